import Scheduling

extension Pool {
    /// A reader that nobody wants at the moment, to prepare something on; nil when there is none. It is given back with
    /// `releaseReader`, soon. The caller never waits.
    package func takeIdleReader(_ client: ClientID) -> Int? {
        state.withLock { state in
            if let index = state.readerQueue.take() {
                state.readerUsers[index] = client
                return index
            }
            return state.preparingQueue.take() != nil ? preparingIndex : nil
        }
    }
}
