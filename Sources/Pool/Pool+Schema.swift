import Scheduling

/// Another process may change the schema while nobody runs anything here.
extension Pool {
    /// Brings `schema` up to date, if that needs nobody's reader and no new one. Returns who gets the reader next, if somebody came
    /// meanwhile.
    public func lookAtSchema(_ client: ClientID) -> Resumption? {
        guard let index = takeIdleReader(client) else { return nil }
        slots[index].reader?.look(epoch: leaseEpoch)
        return releaseReader(index)
    }
}
