/// The function libFuzzer calls with every input. https://llvm.org/docs/LibFuzzer.html#fuzz-target
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    DecoderInput.check(UnsafeRawBufferPointer(start: data, count: size))
    return 0
}
