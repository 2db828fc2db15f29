import PostgresWire

/// Which of a statement's parameters have a type in common: those of a number, but for the casts that have places of their own.
struct ParameterPlaces {
    /// By SQLite's index, from 0.
    let ofIndexes: [Int]
    /// By number, and behind those by cast.
    let count: Int
    private let isNumbered: Bool
    private let numbers: Int
    private let ofCasts: [ParameterCast: Int]

    /// - Parameters:
    ///   - numbers: how many there are.
    ///   - isNumbered: the text calls each parameter by SQLite's index.
    init(_ slots: [ParameterSlot], numbers: Int, _ casts: [ParameterCast], isNumbered: Bool) {
        ofIndexes = slots.map { slot in slot.cast.map { numbers + Int($0) } ?? slot.number - 1 }
        count = numbers + casts.count
        (self.isNumbered, self.numbers) = (isNumbered, numbers)
        ofCasts = Dictionary(uniqueKeysWithValues: casts.enumerated().map { ($1, numbers + $0) })
    }

    /// - Parameter name: as the text has it. nil: none of its parameters is called so, or it is `?`.
    func place(of name: UnsafeRawBufferPointer) -> Int? {
        guard case .numbered(let number, let range) = ParameterName(name) else { return nil }
        if isNumbered { return place(ofIndex: number) }
        if let range, !ofCasts.isEmpty, let type = TypeOID(sqlName: String(decoding: name[range], as: UTF8.self)),
            let place = ofCasts[ParameterCast(number: number, type: type)]
        {
            return place
        }
        return number <= numbers ? number - 1 : nil
    }

    func place(ofIndex index: Int) -> Int? { ofIndexes.indices.contains(index - 1) ? ofIndexes[index - 1] : nil }
}
