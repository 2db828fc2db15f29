/// An expression made flat: operations that push a value or combine the two on top. Evaluating one allocates nothing and
/// counts no references.
enum Operation {
    case push(Int64)
    case local(Int)
    case client
    case clients
    case sequence
    case uniform(from: Int64, span: UInt64)
    case zipfian(Int64)
    case latest(Int64, Zipfian)
    case text(length: Int)
    case key
    case arithmetic(Expression.Operator)
}

/// A compiled expression.
///
/// The operations are memory of its own behind a pointer, because an array's elements would be retained and released for
/// every value that a client draws. They are never given back: there is one program for each parameter of a workload, and
/// it is used to the end of the process. That, and that nobody writes to them, makes it Sendable.
public struct Program: @unchecked Sendable {
    private let operations: UnsafePointer<Operation>
    private let count: Int

    /// Compiles it. Traps when it needs more than `ClassPlan.stackCapacity` values, for which the parser lets none be deep enough.
    public init(_ expression: Expression) {
        var list: [Operation] = []
        Self.compile(expression, into: &list)
        // What draws a value does not look at each push.
        precondition(Self.depth(of: list) <= Self.deepestStack, "the parser limits how deep an expression may be")
        let memory = UnsafeMutablePointer<Operation>.allocate(capacity: list.count)
        memory.initialize(from: list, count: list.count)
        operations = UnsafePointer(memory)
        count = list.count
    }

    /// More than an expression can need: the parser limits how deep it may be.
    static let deepestStack = 64

    private static func depth(of list: [Operation]) -> Int {
        var (depth, most) = (0, 0)
        for operation in list {
            switch operation {
            case .key: continue
            case .arithmetic: depth -= 1
            default: depth += 1
            }
            most = max(most, depth)
        }
        return most
    }

    private static func compile(_ expression: Expression, into list: inout [Operation]) {
        switch expression {
        case .integer(let value): list.append(.push(value))
        case .local(let place, _): list.append(.local(place))
        case .client: list.append(.client)
        case .clients: list.append(.clients)
        case .sequence: list.append(.sequence)
        case .uniform(let from, let to): list.append(.uniform(from: from, span: UInt64(bitPattern: to &- from)))
        case .zipfian(let items): list.append(.zipfian(items))
        case .latest(let items): list.append(.latest(items, Zipfian(items: items)))
        case .text(let length): list.append(.text(length: length))
        case .key(let inner):
            compile(inner, into: &list)
            list.append(.key)
        case .arithmetic(let operation, let left, let right):
            compile(left, into: &list)
            compile(right, into: &list)
            list.append(.arithmetic(operation))
        }
    }

    /// Draws a value.
    ///
    /// - Parameters:
    ///   - values: what `let` drew.
    ///   - stack: room for `ClassPlan.stackCapacity` values.
    @inline(__always)
    public func value(
        _ draws: inout Draws, values: UnsafePointer<Value>, stack: UnsafeMutablePointer<Value>
    ) -> Value {
        var top = stack
        for index in 0..<count {
            switch operations[index] {
            case .push(let number): top.pushed(Value(integer: number))
            case .local(let place): top.pushed(values[place])
            case .client: top.pushed(Value(integer: draws.client))
            case .clients: top.pushed(Value(integer: draws.clients))
            case .sequence: top.pushed(Value(integer: draws.sequence()))
            case .uniform(let from, let span):
                let drawn = span == .max ? draws.random.next() : draws.random.below(span + 1)
                top.pushed(Value(integer: from &+ Int64(bitPattern: drawn)))
            case .zipfian(let items):
                top.pushed(Value(integer: Zipfian.scattered(Zipfian.ofTenBillion.draw(&draws.random)) % items))
            case .latest(let items, let zipfian): top.pushed(Value(integer: draws.latest(items, zipfian)))
            case .text(let length):
                top.pushed(Value(kind: .text, number: Int64(bitPattern: draws.random.next()), length: length))
            case .key: top[-1] = Value(kind: .key, number: top[-1].number)
            case .arithmetic(let operation):
                // Where there is no result (a drawn divisor is 0) the left side stays.
                let result = operation.apply(top[-2].number, top[-1].number) ?? top[-2].number
                top -= 1
                top[-1] = Value(integer: result)
            }
        }
        return top[-1]
    }
}

extension UnsafeMutablePointer<Value> {
    @inline(__always)
    fileprivate mutating func pushed(_ value: Value) {
        initialize(to: value)
        self += 1
    }
}
