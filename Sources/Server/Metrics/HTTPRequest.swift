/// The head of an HTTP request, as far as whoever serves one page needs it.
/// https://www.rfc-editor.org/rfc/rfc9112
struct HTTPRequest: Equatable {
    enum Parsed: Equatable {
        /// Not all of it is here.
        case incomplete
        /// To be answered with this status.
        case refused(HTTPStatus)
        case request(HTTPRequest)
    }

    /// More than any client of such a page sends; curl and Prometheus send some 200 bytes.
    static let longestHeadBytes = 8 << 10

    var method: String
    /// Without the query, which no page here looks at.
    var path: String
    /// The values of all Accept fields; empty when there is none.
    var accept = ""

    static func parse(_ bytes: UnsafeRawBufferPointer) -> Parsed {
        // Another protocol's client, as PostgreSQL's whose messages begin with a length, would wait for an answer that cannot come.
        if let first = bytes.first, !isLetter(first) { return .refused(.badRequest) }
        guard let end = endOfHead(bytes) else {
            return bytes.count > longestHeadBytes ? .refused(.headerFieldsTooLarge) : .incomplete
        }
        guard end <= longestHeadBytes else { return .refused(.headerFieldsTooLarge) }
        let head = String(decoding: bytes[..<end], as: UTF8.self)
        var lines = head.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" }
        guard !lines.isEmpty else { return .refused(.badRequest) }
        let first = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false)
        guard first.count == 3, !first[0].isEmpty, !first[1].isEmpty else { return .refused(.badRequest) }
        guard first[2] == "HTTP/1.1" || first[2] == "HTTP/1.0" else {
            return .refused(first[2].hasPrefix("HTTP/") ? .versionNotSupported : .badRequest)
        }
        var request = HTTPRequest(method: String(first[0]), path: path(of: first[1]))
        var hosts = 0
        for line in lines where !line.isEmpty {
            // "No whitespace is allowed between the field name and colon": section 5.1.
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
                !line[..<colon].contains(where: { $0 == " " || $0 == "\t" })
            else { return .refused(.badRequest) }
            let value = line[line.index(after: colon)...]
            switch line[..<colon].lowercased() {
            case "host": hosts += 1
            case "accept": request.accept += (request.accept.isEmpty ? "" : ",") + value
            default: break
            }
        }
        // "A server MUST respond with a 400 … to any HTTP/1.1 request message that lacks a Host header field": section 3.2.
        guard hosts == 1 || (hosts == 0 && first[2] == "HTTP/1.0") else { return .refused(.badRequest) }
        return .request(request)
    }

    /// As every method in use begins with.
    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
    }

    /// Behind the empty line. A lone line feed is taken for a line's end: "a recipient MAY recognize a single LF".
    private static func endOfHead(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var lineIsEmpty = false
        for (index, byte) in bytes.prefix(longestHeadBytes + 1).enumerated() {
            if byte == UInt8(ascii: "\n") {
                if lineIsEmpty { return index + 1 }
                lineIsEmpty = true
            } else if byte != UInt8(ascii: "\r") {
                lineIsEmpty = false
            }
        }
        return nil
    }

    /// Of "/metrics?x" or, as a client of a proxy writes it, "http://host/metrics".
    private static func path(of target: Substring) -> String {
        var target = target
        if target.lowercased().hasPrefix("http://") {
            target = target.dropFirst("http://".count)
            target = target.firstIndex(of: "/").map { target[$0...] } ?? "/"
        }
        return String(target.prefix { $0 != "?" })
    }
}

enum HTTPStatus: String {
    case ok = "200 OK"
    case badRequest = "400 Bad Request"
    case forbidden = "403 Forbidden"
    case notFound = "404 Not Found"
    case methodNotAllowed = "405 Method Not Allowed"
    case headerFieldsTooLarge = "431 Request Header Fields Too Large"
    case versionNotSupported = "505 HTTP Version Not Supported"
}
