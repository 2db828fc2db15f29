/// What a command line says of the classes of a workload, in place of the file.
extension Workload {
    /// - Parameters:
    ///   - clients: "8" for the first class, or "writers=8,readers=64".
    ///   - rate: the same.
    ///   - messages: "pipeline" for all classes, or "writers=pipeline".
    public mutating func set(clients: String?, rate: String?, messages: String? = nil) throws(WorkloadError) {
        for (index, text) in try perClass("--clients", clients, all: 0..<1) {
            guard let count = Int(text), (0...ClientClass.mostClients).contains(count) else {
                throw WorkloadError("--clients: \"\(text)\" is no number of clients")
            }
            classes[index].clients = count
        }
        for (index, text) in try perClass("--rate", rate, all: 0..<1) {
            guard let value = Double(text), value == 0 || ClientClass.rates.contains(value) else {
                throw WorkloadError("--rate: \"\(text)\" is not \(ClientClass.rates.orZero)")
            }
            classes[index].ratePerSecond = value
            try requireMeaning(of: "rate", classes[index])
        }
        for (index, text) in try perClass("--messages", messages, all: classes.indices) {
            guard let value = ClientClass.Messages(rawValue: text) else {
                let known = ClientClass.Messages.allCases.map(\.rawValue).joined(separator: ", ")
                throw WorkloadError("--messages \(text): one of \(known)")
            }
            classes[index].messages = value
            try requireMeaning(of: "messages", classes[index])
        }
        guard classes.contains(where: { $0.clients > 0 }) else { throw WorkloadError("there are no clients") }
    }

    /// - Parameter all: the classes that a value without a name is for.
    private func perClass(
        _ option: String, _ text: String?, all: Range<Int>
    ) throws(WorkloadError) -> [(index: Int, text: String)] {
        guard let text else { return [] }
        guard text.contains("=") else { return all.map { ($0, text) } }
        var values: [(index: Int, text: String)] = []
        for part in text.split(separator: ",") {
            let parts = part.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let index = classes.firstIndex(where: { $0.name == parts[0] }) else {
                let names = classes.map(\.name).joined(separator: ", ")
                throw WorkloadError("\(option) \(part): write CLASS=VALUE; the classes are \(names)")
            }
            guard !values.contains(where: { $0.index == index }) else {
                throw WorkloadError("\(option) \(text): class \(parts[0]) is named twice")
            }
            values.append((index, String(parts[1])))
        }
        return values
    }

    private func requireMeaning(of key: String, _ clientClass: ClientClass) throws(WorkloadError) {
        guard let wrong = clientClass.contradiction(isGiven: { $0 == key }) else { return }
        throw WorkloadError("--\(key): class \"\(clientClass.name)\": \(wrong.message)")
    }
}
