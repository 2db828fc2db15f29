import TestSupport

@testable import Scheduling

/// The fake clock: a number of milliseconds since some beginning.
func ms(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

extension SeededGenerator {
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

extension WriterQueue.Grant {
    /// Drawn: "1+2" is a group, "t3" a transaction, "j4" a job.
    var picture: String {
        switch self {
        case .group(let members): members.map(String.init).joined(separator: "+")
        case .transaction(let client): "t\(client)"
        case .job(let client): "j\(client)"
        }
    }

    var clients: [ClientID] {
        switch self {
        case .group(let members): members
        case .transaction(let client), .job(let client): [client]
        }
    }
}

extension WriterQueue {
    /// A queue behind a busy holder, client 0, filled from a picture: m is a member, t a transaction, j a job. The
    /// clients are numbered from 1; client n came at n ms and waits until `deadlines[n]` ms.
    init(waiting picture: String, groupLimit: Int = 8, idleLimit: Int64 = 0, deadlines: [ClientID: Int64] = [:]) {
        self.init(groupLimit: groupLimit, holderIdleLimitMilliseconds: idleLimit)
        _ = request(0, .transaction, now: ms(0))
        for (position, letter) in picture.enumerated() {
            let purpose: Purpose = letter == "m" ? .member : letter == "t" ? .transaction : .job
            let client = position + 1
            _ = request(
                client, purpose, now: ms(Int64(client)), deadline: deadlines[client].map(ms) ?? .distantFuture)
        }
    }

    /// Everything that is granted until nobody waits, one release after the other.
    mutating func drained() -> String {
        var pictures: [String] = []
        while let grant = release(now: ms(1000)) { pictures.append(grant.picture) }
        return pictures.joined(separator: " ")
    }
}

extension ReaderQueue {
    /// Asks for a reader as `Pool.requestReader` does: a connection's index, or nil for one that waits from then on.
    mutating func request(_ client: ClientID, now: Instant, deadline: Instant = .distantFuture, passesPause: Bool = false) -> Int? {
        if let index = take() { return index }
        if passesPause, let index = takePassing() { return index }
        enqueue(client, deadline: deadline, now: now, passesPause: passesPause)
        return nil
    }
}
