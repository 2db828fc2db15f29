/// string_agg(text, separator)
final class StringAggregate: AggregateState {
    private var bytes: [UInt8]?
    private let memory = CountedMemory()

    func add(_ call: FunctionCall) {
        guard !call.isNull(0) else { return }
        let separator = bytes == nil || call.isNull(1) ? 0 : call.bytes(1).count
        let length = (bytes?.count ?? 0) + separator + call.bytes(0).count
        guard call.allows(length: length), memory.grow(to: length, call) else { return }
        if bytes == nil { bytes = [] } else if separator > 0 { bytes!.append(contentsOf: call.bytes(1)) }
        bytes!.append(contentsOf: call.bytes(0))
    }

    func finish(_ call: FunctionCall) {
        guard let bytes else { return call.answerNull() }
        bytes.withUnsafeBytes { call.answer($0) }
    }
}
