import CSQLite

/// An aggregate's rows so far: the state of one group.
public protocol AggregateState: AnyObject {
    init()
    func add(_ call: FunctionCall)
    /// Answers the call. There was a row.
    func finish(_ call: FunctionCall)
}

/// Which aggregate it is: C's callbacks capture nothing, so this goes by way of the user data. SQLite keeps no more of a group's state
/// than its address, and only this knows what class it is of.
private final class AggregateKind {
    /// A new state's address; the state is retained.
    let make: () -> UnsafeMutableRawPointer
    let add: (UnsafeMutableRawPointer, FunctionCall) -> Void
    /// Answers the call, and lets go of the state.
    let finish: (UnsafeMutableRawPointer, FunctionCall) -> Void
    /// The connection's: it lets go of its functions before it goes.
    unowned(unsafe) let callbacks: Callbacks

    init<State: AggregateState>(_: State.Type, _ callbacks: Callbacks) {
        self.callbacks = callbacks
        make = { Unmanaged.passRetained(State()).toOpaque() }
        add = { Unmanaged<State>.fromOpaque($0).takeUnretainedValue().add($1) }
        finish = { address, call in
            let state = Unmanaged<State>.fromOpaque(address).takeRetainedValue()
            // To put its rows together takes as long as to gather them.
            guard call.callbacks.onProgress?() != true else { return call.fail(code: SQLITE_INTERRUPT) }
            state.finish(call)
        }
    }
}

extension Connection {
    /// Makes an aggregate known.
    public func register<State: AggregateState>(
        aggregate name: StaticString, _ argumentCount: Int, _ state: State.Type
    ) {
        let kind = Unmanaged.passRetained(AggregateKind(state, callbacks)).toOpaque()
        name.utf8Start.withMemoryRebound(to: CChar.self, capacity: name.utf8CodeUnitCount + 1) { name in
            _ = sqlite3_create_function_v2(
                handle, name, Int32(argumentCount), FunctionKind.deterministic.flags, kind, nil,
                { context, count, values in
                    let bytes = Int32(MemoryLayout<UnsafeMutableRawPointer?>.size)
                    guard let slot = Connection.aggregateSlot(context, bytes: bytes) else { return sqlite3_result_error_nomem(context) }
                    let kind = Unmanaged<AggregateKind>.fromOpaque(sqlite3_user_data(context)).takeUnretainedValue()
                    let call = FunctionCall(context: context!, values: values!, callbacks: kind.callbacks, count: Int(count))
                    guard !call.isToStop else { return }
                    let state = slot.pointee ?? kind.make()
                    slot.pointee = state
                    kind.add(state, call)
                },
                { context in
                    // Called exactly once for each group, after an error too, so nothing is left behind.
                    let slot = Connection.aggregateSlot(context, bytes: 0)
                    let kind = Unmanaged<AggregateKind>.fromOpaque(sqlite3_user_data(context)).takeUnretainedValue()
                    let call = FunctionCall(
                        context: context!, values: FunctionCall.noValues, callbacks: kind.callbacks, count: 0)
                    guard let slot, let state = slot.pointee else { return call.answerNull() }
                    slot.pointee = nil
                    kind.finish(state, call)
                }, { Unmanaged<AggregateKind>.fromOpaque($0!).release() })
        }
    }

    /// "The first time the sqlite3_aggregate_context(C,N) routine is called for a particular aggregate function, SQLite
    /// allocates N bytes of memory, zeroes out that memory": https://www.sqlite.org/c3ref/aggregate_context.html
    fileprivate static func aggregateSlot(
        _ context: OpaquePointer?, bytes: Int32
    ) -> UnsafeMutablePointer<UnsafeMutableRawPointer?>? {
        sqlite3_aggregate_context(context, bytes)?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }
}
