import Glibc
import PostgresWire

/// HTTP on the socket that speaks PostgreSQL's protocol: one request for the metrics, one response, and the end.
///
///     curl --unix-socket /run/walpool/.s.PGSQL.5432 http://localhost/metrics
///
/// The deadline of a startup holds for all of the request, and `client_write_timeout` for the response.
extension Session {
    /// How long a client that was answered may take to close its side.
    private static let lingerMilliseconds: Int64 = 2_000

    /// Who may see the metrics: over TCP everybody on this machine, on the Unix socket whomever a rule of
    /// access lets in. This is the one place that decides so.
    private var maySeeMetrics: Bool {
        if isHTTPOnly { return true }
        guard let credentials else { return false }
        let rules = server.accessRules
        let group = rules.needSocketGroup ? server.socketGroup : nil
        if case .admit = rules.rule(for: credentials, socketGroup: group)?.outcome { return true }
        return false
    }

    /// Its first bytes are an HTTP request's.
    func beginHTTP() -> Wait? {
        phase = .http
        countAsLooking()
        return nil
    }

    /// Answers the request once all of it is here.
    func takeHTTPRequest() -> Wait? {
        let bytes = UnsafeRawBufferPointer(rebasing: input.bytes[state.inputPosition...])
        switch HTTPRequest.parse(bytes) {
        case .incomplete: return .input
        case .refused(let status): respond(status)
        case .request(let request): answer(request)
        }
        phase = .httpAnswered
        return nil
    }

    private func answer(_ request: HTTPRequest) {
        let isHead = request.method == "HEAD"
        guard isHead || request.method == "GET" else { return respond(.methodNotAllowed) }
        guard request.path == "/metrics" else { return respond(.notFound, isHead: isHead) }
        guard maySeeMetrics else {
            return respond(.forbidden, body: "\(HTTPStatus.forbidden.rawValue)\nNo access rule lets this user in.\n", isHead: isHead)
        }
        let format = ExpositionFormat(accept: request.accept)
        respond(.ok, format.contentType, body: server.metricsText(format, worker), isHead: isHead)
    }

    private func respond(
        _ status: HTTPStatus, _ contentType: StaticString = "text/plain; charset=utf-8", body: String? = nil,
        isHead: Bool = false
    ) {
        let body = body ?? "\(status.rawValue)\nMetrics are at /metrics.\n"
        var head = "HTTP/1.1 \(status.rawValue)\r\nContent-Type: \(contentType)\r\nContent-Length: \(body.utf8.count)\r\n"
        if status == .methodNotAllowed { head += "Allow: GET, HEAD\r\n" }
        head += "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
        out.append(head)
        if !isHead { out.append(body) }
    }

    /// Sends the response, says that nothing follows, and waits until the client has closed its side: closing a socket with
    /// unread bytes in it resets a TCP connection, and the response with it.
    func finishHTTP() -> Wait? {
        state.inputPosition = input.count
        guard flush() else { return .closed }
        guard out.count == 0, awaiting.reason != .nothing else { return .input }
        shutdown(socket, Int32(SHUT_WR))
        armDeadline(.nothing, afterMilliseconds: Self.lingerMilliseconds)
        return .input
    }
}
