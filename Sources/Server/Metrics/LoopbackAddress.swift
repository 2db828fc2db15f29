import CLinux
import Glibc

/// How metrics are served beside the Unix socket.
package struct MetricsConfiguration: Sendable {
    /// nil: on the Unix socket alone.
    package var address: LoopbackAddress?
    package init() {}
}

/// An address and port of this machine's own. Over TCP nobody knows who asks, so nobody from elsewhere may.
package struct LoopbackAddress: Equatable, Sendable, CustomStringConvertible {
    /// As it was written.
    package let description: String
    let isVersion6: Bool
    /// Of version 4, in host order.
    let address: UInt32
    let port: UInt16

    /// "127.0.0.1:9187" or "[::1]:9187"; the error says what is wrong with it. Names are not looked up: what they mean is
    /// decided elsewhere.
    package init(_ text: String) throws(StartError) {
        let shape = "\"127.0.0.1:9187\" or \"[::1]:9187\""
        guard let colon = text.lastIndex(of: ":") else { throw StartError("\(text): a port is missing, as in \(shape)") }
        guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            throw StartError("\(text): the port must be 1 to 65535")
        }
        let host = String(text[..<colon])
        if host == "[::1]" {
            (isVersion6, address) = (true, 0)
        } else {
            var parsed = in_addr()
            guard inet_pton(AF_INET, host, &parsed) == 1 else {
                throw StartError("\(text): not an address of this machine, as in \(shape)")
            }
            (isVersion6, address) = (false, UInt32(bigEndian: parsed.s_addr))
            guard address >> 24 == 127 else {
                throw StartError(
                    "\(text): metrics are served on loopback addresses only, because over TCP nobody knows who asks")
            }
        }
        self.port = port
        description = text
    }
}

extension Listener {
    init(loopback address: LoopbackAddress) throws(StartError) {
        let family = address.isVersion6 ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw StartError("cannot listen on \(address): \(reason) (walpoold's systemd unit forbids TCP: walpoold(8) has the drop-in)")
        }
        // A daemon started again must not wait for the last one's connections to be forgotten: socket(7).
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard Self.bind(descriptor, address) == 0, listen(descriptor, ServerLimits.backlog) == 0 else {
            let reason = String(cString: strerror(errno))
            Glibc.close(descriptor)
            throw StartError("cannot listen on \(address): \(reason)")
        }
        self.descriptor = descriptor
        path = ""
        file = nil
    }

    private static func bind(_ descriptor: Int32, _ address: LoopbackAddress) -> Int32 {
        if address.isVersion6 {
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = address.port.bigEndian
            name.sin6_addr = in6addr_loopback
            return bind(descriptor, &name)
        }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = address.port.bigEndian
        name.sin_addr.s_addr = address.address.bigEndian
        return bind(descriptor, &name)
    }

    private static func bind<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }
}
