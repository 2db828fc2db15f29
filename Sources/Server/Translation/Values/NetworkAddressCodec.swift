import Glibc

/// inet and cidr in binary, as psycopg sends Python's ipaddress values: network_recv in src/backend/utils/adt/network.c.
enum NetworkAddressCodec {
    /// What network_send calls IPv4; IPv6 is one more ("PGSQL_AF_INET6 (AF_INET + 1)", src/include/utils/inet.h).
    private static let ipv4: UInt8 = 2
    /// Family, bits of the network, whether it is a cidr, and how many bytes follow.
    private static let headerBytes = 4

    /// As PostgreSQL writes it: an inet that is one host has no `/bits`. nil: it is none.
    static func text(_ bytes: UnsafeRawBufferPointer, isNetwork: Bool) -> String? {
        guard bytes.count >= headerBytes, bytes[0] == ipv4 || bytes[0] == ipv4 + 1 else { return nil }
        let count = bytes[0] == ipv4 ? 4 : 16
        guard Int(bytes[3]) == count, bytes.count == headerBytes + count, Int(bytes[1]) <= count * 8 else { return nil }
        guard let address = address(UnsafeRawBufferPointer(rebasing: bytes[headerBytes...])) else { return nil }
        return isNetwork || Int(bytes[1]) < count * 8 ? "\(address)/\(bytes[1])" : address
    }

    /// A text that is one host, without the bits, as it would be in binary; nil: it is another, and whether it is an address at all nobody
    /// asks here.
    static func host(_ text: UnsafeRawBufferPointer) -> String? {
        let isIPv6 = text.contains(UInt8(ascii: ":"))
        let bits = isIPv6 ? "/128".utf8 : "/32".utf8
        guard text.suffix(bits.count).elementsEqual(bits) else { return nil }
        return String(decoding: text.dropLast(bits.count), as: UTF8.self)
    }

    /// - Parameter bytes: 4 or 16 of them, so there is a first.
    private static func address(_ bytes: UnsafeRawBufferPointer) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes.baseAddress!, text.baseAddress!, socklen_t(text.count)) != nil
            else {
                return nil
            }
            return String(cString: text.baseAddress!)
        }
    }
}
