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
    private func place(of name: UnsafeRawBufferPointer) -> Int? {
        guard case .numbered(let number, let range) = ParameterName(name) else { return nil }
        if isNumbered { return place(ofIndex: number) }
        if let range, !ofCasts.isEmpty, let type = TypeOID(sqlName: String(decoding: name[range], as: UTF8.self)),
            let place = ofCasts[ParameterCast(number: number, type: type)]
        {
            return place
        }
        return number <= numbers ? number - 1 : nil
    }

    /// The places of a text's parameters, one after the other. SQLite numbers a `?` behind the highest number so far.
    struct InOrder {
        let places: ParameterPlaces
        private var highest = 0

        init(_ places: ParameterPlaces) { self.places = places }

        /// - Parameter name: of the next one.
        mutating func place(of name: UnsafeRawBufferPointer) -> Int? {
            let known = ParameterName(name)
            if known == .positional { highest += 1 }
            if case .numbered(let number, _) = known { highest = max(highest, number) }
            return known == .positional ? places.place(ofIndex: highest) : places.place(of: name)
        }
    }

    private func place(ofIndex index: Int) -> Int? { ofIndexes.indices.contains(index - 1) ? ofIndexes[index - 1] : nil }
}
