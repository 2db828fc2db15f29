import Glibc

/// PostgreSQL's statistical aggregates: https://www.postgresql.org/docs/current/functions-aggregate.html#FUNCTIONS-AGGREGATE-STATISTICS-TABLE
private class Deviation: AggregateState {
    private var count = 0.0
    private var sum = 0.0
    /// Of the squared differences from the mean.
    private var squares = 0.0

    required init() {}

    final func add(_ call: FunctionCall) {
        guard !call.isNull(0) else { return }
        guard call.storageClass(0) == .integer || call.storageClass(0) == .real else {
            return call.fail("an aggregate of numbers has met the \(call.storageClass(0).word) \"\(call.quoted(0))\"")
        }
        let value = call.double(0)
        count += 1
        sum += value
        guard count > 1 else {
            // Of what is infinite the differences are nothing, which SQLite makes NULL.
            if !value.isFinite { squares = .nan }
            return
        }
        // Youngs and Cramer's way, as PostgreSQL's: the squares' sum less the sum's square would be all rounding errors.
        let difference = value * count - sum
        squares += difference * difference / (count * (count - 1))
    }

    final func finish(_ call: FunctionCall) {
        guard let result = result(count, squares) else { return call.answerNull() }
        call.answer(result)
    }

    /// nil: of so few values there is none.
    func result(_ count: Double, _ squares: Double) -> Double? { nil }

    fileprivate static func sample(_ count: Double, _ squares: Double) -> Double? { count > 1 ? squares / (count - 1) : nil }
    fileprivate static func population(_ count: Double, _ squares: Double) -> Double? { count > 0 ? squares / count : nil }
}

private final class SampleVariance: Deviation {
    override func result(_ count: Double, _ squares: Double) -> Double? { Self.sample(count, squares) }
}

private final class PopulationVariance: Deviation {
    override func result(_ count: Double, _ squares: Double) -> Double? { Self.population(count, squares) }
}

private final class SampleDeviation: Deviation {
    override func result(_ count: Double, _ squares: Double) -> Double? { Self.sample(count, squares).map(sqrt) }
}

private final class PopulationDeviation: Deviation {
    override func result(_ count: Double, _ squares: Double) -> Double? { Self.population(count, squares).map(sqrt) }
}

/// bool_and() and bool_or(): what all, or some, of the values are that are not NULL.
private class Quantifier: AggregateState {
    private var hasTrue = false
    private var hasFalse = false

    required init() {}

    final func add(_ call: FunctionCall) {
        guard !call.isNull(0) else { return }
        guard call.storageClass(0) == .integer || call.storageClass(0) == .real else {
            return call.fail("an aggregate of booleans has met the \(call.storageClass(0).word) \"\(call.quoted(0))\"")
        }
        if call.double(0) == 0 { hasFalse = true } else { hasTrue = true }
    }

    final func finish(_ call: FunctionCall) {
        guard hasTrue || hasFalse else { return call.answerNull() }
        call.answer(result(hasTrue: hasTrue, hasFalse: hasFalse))
    }

    func result(hasTrue: Bool, hasFalse: Bool) -> Bool { false }
}

private final class Every: Quantifier {
    override func result(hasTrue: Bool, hasFalse: Bool) -> Bool { !hasFalse }
}

private final class AtLeastOne: Quantifier {
    override func result(hasTrue: Bool, hasFalse: Bool) -> Bool { hasTrue }
}

extension StorageClass {
    fileprivate var word: String { self == .blob ? "blob" : "text" }
}

enum StatisticalAggregates {
    static func register(on connection: Connection) {
        for name: StaticString in ["variance", "var_samp"] { connection.register(aggregate: name, 1, SampleVariance.self) }
        connection.register(aggregate: "var_pop", 1, PopulationVariance.self)
        for name: StaticString in ["stddev", "stddev_samp"] { connection.register(aggregate: name, 1, SampleDeviation.self) }
        connection.register(aggregate: "stddev_pop", 1, PopulationDeviation.self)
        for name: StaticString in ["bool_and", "every"] { connection.register(aggregate: name, 1, Every.self) }
        connection.register(aggregate: "bool_or", 1, AtLeastOne.self)
    }
}
