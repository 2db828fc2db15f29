@testable import PostgresWire

/// Messages as a client writes them.
struct FrontendWriter {
    var bytes: [UInt8] = []

    mutating func byte(_ value: UInt8) { bytes.append(value) }
    mutating func int16(_ value: Int) { bytes += [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)] }
    mutating func int32(_ value: Int) {
        int16(value >> 16)
        int16(value)
    }
    mutating func string(_ text: UnsafeRawBufferPointer) { bytes += text + [0] }
    mutating func formats(_ codes: FormatCodes) {
        int16(codes.count)
        for index in 0..<codes.count { int16(Int(FormatCodes.code(at: index, in: codes.codes))) }
    }
}
