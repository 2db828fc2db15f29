import Synchronization

/// One statement's SQL, and the number by which every connection's statement cache knows it.
///
/// Comparing a number is what makes a cache hit cheap; two objects with the same text are merely prepared twice.
///
/// `@unchecked Sendable`: the bytes are written once, in `init`, and freed in `deinit`.
package final class SQLText: @unchecked Sendable {
    /// Unlike any other of this process.
    package let id: Int
    /// The text, valid for as long as this object lives.
    package let bytes: UnsafeRawBufferPointer

    private static let nextID = Atomic<Int>(1)

    /// Copies the text.
    package init(copying text: UnsafeRawBufferPointer) {
        id = Self.nextID.wrappingAdd(1, ordering: .relaxed).oldValue
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, text.count), alignment: 1)
        copy.copyMemory(from: text)
        bytes = UnsafeRawBufferPointer(rebasing: copy[..<text.count])
    }

    deinit { bytes.baseAddress?.deallocate() }
}
