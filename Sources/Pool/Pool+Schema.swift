import Scheduling

/// Another process may change the schema while nobody runs anything here.
extension Pool {
    /// How often the database was opened anew: numbers of its schemas come again then. It stays while one has a connection.
    package var schemaEra: Int { schema.currentEra }

    /// Brings `schema` up to date, if that needs nobody's reader and no new one. Returns who gets the reader next, if somebody came
    /// meanwhile.
    package func lookAtSchema(_ client: ClientID) -> Resumption? {
        guard let index = takeIdleReader(client) else { return nil }
        slots[index].reader?.look(epoch: leaseEpoch)
        return releaseReader(index)
    }
}
