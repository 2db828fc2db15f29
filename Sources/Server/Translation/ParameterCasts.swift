import PostgresWire

/// A parameter where it stands with that type.
struct ParameterCast: Hashable, Sendable {
    let number: Int
    let type: TypeOID
}

/// Which of a statement's parameters stand in it both with a type and without, or with several. Each such place has a value of its own:
/// `INSERT … VALUES ($1, $1::date)` means both what the client sends and what the cast makes of it.
struct ParameterCasts {
    /// By number from 0: the first type that it stands with, or `.unspecified`; nil: it does not stand there.
    private(set) var types: [TypeOID?] = []
    /// What the places with a type are, of parameters that have others as well.
    private(set) var mixed: [ParameterCast] = []
    private var positions: [ParameterCast: Int32] = [:]

    /// - Parameter parameters: as they stand in the text, with `.unspecified` for none. Numbers are from 1.
    init(_ parameters: some Sequence<(number: Int, type: TypeOID)>) {
        var first: [TypeOID?] = []
        var several: Set<Int> = []
        for (number, type) in parameters {
            while types.count < number {
                types.append(nil)
                first.append(nil)
            }
            if first[number - 1] ?? type != type { several.insert(number) }
            if first[number - 1] == nil { first[number - 1] = type }
            if types[number - 1] ?? .unspecified == .unspecified { types[number - 1] = type }
        }
        guard !several.isEmpty else { return }
        for (number, type) in parameters where type != .unspecified && several.contains(number) {
            let cast = ParameterCast(number: number, type: type)
            guard positions[cast] == nil else { continue }
            positions[cast] = Int32(mixed.count)
            mixed.append(cast)
        }
    }

    /// Which of `mixed` it is.
    func position(_ number: Int, _ type: TypeOID) -> Int32? { positions[ParameterCast(number: number, type: type)] }
}
