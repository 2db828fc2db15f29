import Server

extension ConfigurationKey {
    static let metrics: [ConfigurationKey] = [metricsAddress]

    private static let metricsAddress = ConfigurationKey(
        "metrics_address", form: "a loopback address and a port", change: .restart, "Where metrics are served over TCP, too",
        details: """
            On the Unix socket they are always served: curl --unix-socket /run/walpool/.s.PGSQL.5432 http://localhost/metrics. \
            Over TCP nobody knows who asks, so only addresses of this machine are taken: 127.0.0.0/8 and [::1]. Whoever is on \
            this machine may look then; nothing else is answered there. The systemd unit forbids TCP: walpoold(8) has the drop-in \
            that allows it.
            """,
        defaultInWords: "none", example: .string("127.0.0.1:9187"),
        value: { $0.server.metrics.address.map { .string($0.description) } },
        set: { (name, value, settings) throws(StartError) in
            guard case .string(let text) = value else { throw wrong(name, "a string such as \"127.0.0.1:9187\"", value) }
            do { settings.server.metrics.address = try LoopbackAddress(text) } catch {
                throw StartError("\(name): \(error)")
            }
        })
}
