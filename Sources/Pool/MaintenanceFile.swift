import Glibc
import POSIX
import Scheduling

/// The maintenance record as it lies beside the database, in `<database>-maintenance`: a few lines of text with a
/// checksum, replaced as a whole.
///
/// Only ever this file and the one that replaces it are opened. A descriptor of the database or its -wal or -shm would
/// be a trap: "If a process closes a file … all locks held by that process on that file are released"
/// (https://www.sqlite.org/howtocorrupt.html#posix_close_bug).
struct MaintenanceFile: Sendable {
    let path: String
    let directory: String

    /// - Parameter database: symbolic links in it are followed, as SQLite follows them to place the -wal.
    init(database: String) {
        let database = Directory.resolved(database) ?? database
        path = database + "-maintenance"
        directory = Directory.of(database)
    }

    enum Found: Equatable {
        case record(MaintenanceRecord)
        case nothing
        /// It is there and says nothing: why.
        case unreadable(String)
    }

    /// More than any record takes.
    private static let longestBytes = 4096

    func read() -> Found {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            return errno == ENOENT ? .nothing : .unreadable(String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.longestBytes + 1)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + count, $0.count - count) }
            if more < 0 { return .unreadable(String(cString: strerror(errno))) }
            if more == 0 { break }
            count += more
        }
        guard let record = MaintenanceRecord(stored: bytes[..<count]) else {
            return .unreadable("it is truncated or damaged")
        }
        return .record(record)
    }

    struct WriteError: Error {
        let operation: String
        let code: Int32
        var description: String { "\(operation): \(String(cString: strerror(code)))" }
    }

    /// Replaces the file: after a crash at any moment there is the old record or the new one. One caller at a time.
    func write(_ record: MaintenanceRecord) throws(WriteError) {
        let new = path + ".new"
        do throws(WriteError) {
            try fill(new, Array(record.stored.utf8))
            guard rename(new, path) == 0 else { throw WriteError(operation: "rename", code: errno) }
        } catch {
            unlink(new)
            throw error
        }
        if let failure = Directory.sync(of: path) {
            throw WriteError(operation: "\(failure.call) directory", code: failure.errorNumber)
        }
    }

    private func fill(_ path: String, _ bytes: [UInt8]) throws(WriteError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw WriteError(operation: "open", code: errno) }
        defer { close(descriptor) }
        // A file of a few hundred bytes: what is not written at once is a full disk.
        let count = Glibc.write(descriptor, bytes, bytes.count)
        guard count == bytes.count else { throw WriteError(operation: "write", code: count < 0 ? errno : ENOSPC) }
        guard fdatasync(descriptor) == 0 else { throw WriteError(operation: "fdatasync", code: errno) }
    }
}

// MARK: The text

extension MaintenanceRecord {
    private static let heading = "walpool-maintenance 1"

    var stored: String {
        var lines = [Self.heading, "base = \(UTCTime.text(base))"]
        if let success = lastSuccess {
            lines += [
                "succeeded = \(UTCTime.text(success.at))", "duration_ms = \(success.durationMilliseconds)",
                "bytes_freed = \(success.bytesFreed)",
            ]
        }
        if let failure = lastFailure {
            lines += ["failed = \(UTCTime.text(failure.at))", "reason = \(Self.line(failure.reason))"]
        }
        if attempts > 0 { lines.append("attempts = \(attempts)") }
        if let lastAttempt { lines.append("attempted = \(UTCTime.text(lastAttempt))") }
        let text = lines.joined(separator: "\n") + "\n"
        return text + "crc32 = \(Self.checksum(text.utf8))\n"
    }

    /// Nil unless it is what `stored` writes, whole.
    init?(stored bytes: ArraySlice<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 4, lines.removeLast().isEmpty else { return nil }
        let summed = text.utf8.prefix(text.utf8.count - lines.removeLast().utf8.count - 1)
        guard text == String(summed)! + "crc32 = \(Self.checksum(summed))\n", lines.removeFirst() == Self.heading
        else { return nil }
        var values: [String: Substring] = [:]
        for line in lines {
            guard let equals = line.firstRange(of: " = ") else { return nil }
            values[String(line[..<equals.lowerBound])] = line[equals.upperBound...]
        }
        guard let base = values["base"].flatMap(UTCTime.seconds) else { return nil }
        self.init(base: base)
        if let at = values["succeeded"].flatMap(UTCTime.seconds), let duration = values["duration_ms"].flatMap({ Int64($0) }),
            let freed = values["bytes_freed"].flatMap({ Int64($0) })
        {
            lastSuccess = Success(at: at, durationMilliseconds: duration, bytesFreed: freed)
        }
        if let at = values["failed"].flatMap(UTCTime.seconds), let reason = values["reason"] {
            lastFailure = Failure(at: at, reason: String(reason))
        }
        attempts = min(max(0, values["attempts"].flatMap { Int($0) } ?? 0), MaintenanceRecord.mostAttempts)
        lastAttempt = values["attempted"].flatMap(UTCTime.seconds)
    }

    /// SQLite's words may contain names of the schema, which may contain anything.
    private static func line(_ reason: String) -> String {
        String(
            String.UnicodeScalarView(
                reason.unicodeScalars.prefix(PoolLimits.reasonCharacters).map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
    }

    /// CRC-32 as gzip and zlib have it (RFC 1952, section 8), so that others can check it and tests can write it.
    static func checksum(_ bytes: some Sequence<UInt8>) -> String {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        let digits = String(sum ^ 0xFFFF_FFFF, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}
