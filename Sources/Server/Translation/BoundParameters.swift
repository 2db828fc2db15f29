import PostgresWire

/// The values a Bind message brought, kept by the portal for as long as its statement may read them.
///
/// The message's bytes are copied once; SQLite is given pointers into that copy.
final class BoundParameters {
    private var storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var values: [(format: Format, offset: Int, count: Int)] = []

    deinit { storage.deallocate() }

    var count: Int { values.count }
    /// Of the values that are bound now; the storage may have had longer ones.
    private(set) var valueBytes = 0
    /// With what is known of each, which for many NULLs is all there is.
    var byteCount: Int { storage.count + values.capacity * MemoryLayout<(format: Format, offset: Int, count: Int)>.stride }

    /// Frees the values when they take more than an idle session should keep.
    func releaseMemory(above limit: Int) {
        guard byteCount > limit else { return }
        storage.deallocate()
        storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        (values, valueBytes) = ([], 0)
    }

    func load(_ bind: BindMessage) {
        values.removeAll(keepingCapacity: true)
        var bytes = 0
        for parameter in bind.parameters { bytes += parameter.bytes?.count ?? 0 }
        reserve(bytes)
        valueBytes = bytes
        var offset = 0
        for parameter in bind.parameters {
            guard let value = parameter.bytes else {
                values.append((parameter.format, 0, -1))
                continue
            }
            if value.count > 0 { (storage.baseAddress! + offset).copyMemory(from: value.baseAddress!, byteCount: value.count) }
            values.append((parameter.format, offset, value.count))
            offset += value.count
        }
    }

    /// The literal arguments of an SQL EXECUTE, as text.
    func load(texts: [String?]) {
        values.removeAll(keepingCapacity: true)
        valueBytes = texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        reserve(valueBytes)
        var offset = 0
        for text in texts {
            guard let text else {
                values.append((.text, 0, -1))
                continue
            }
            let count = text.utf8.count
            for byte in text.utf8 {
                storage[offset] = byte
                offset += 1
            }
            values.append((.text, offset - count, count))
        }
    }

    func load(copying other: BoundParameters) {
        (values, valueBytes) = (other.values, other.valueBytes)
        reserve(other.storage.count)
        if other.storage.count > 0 { storage.copyMemory(from: UnsafeRawBufferPointer(other.storage)) }
    }

    private func reserve(_ bytes: Int) {
        guard storage.count < bytes else { return }
        storage.deallocate()
        storage = .allocate(byteCount: max(64, bytes), alignment: 8)
    }

    /// nil is NULL.
    @inline(__always)
    func value(_ number: Int) -> (format: Format, bytes: UnsafeRawBufferPointer?) {
        let value = values[number - 1]
        guard value.count >= 0 else { return (value.format, nil) }
        let start = storage.baseAddress.map { UnsafeRawPointer($0) + value.offset }
        return (value.format, UnsafeRawBufferPointer(start: start, count: value.count))
    }
}
