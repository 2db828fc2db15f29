/// Every bound of a COPY, each with its reason.
enum CopyLimits {
    /// Bytes of complete rows that are kept before the writer is taken, and inserted in one go: so many rows take some
    /// 40 ms, so a COPY of less never has the writer while it waits for its client.
    static let bufferBytes = 4 << 20
    /// Their values take 16 bytes each, which matters when they are as short as a digit.
    static let bufferedValues = 256 << 10
    /// Less than this that has arrived is not looked at before the end or more of it: a row that is not complete is read
    /// again from its beginning.
    static let decodeBytes = 64 << 10
    /// A row that is longer than the longest message can only be a quote that was never closed.
    static let rowBytes = SessionLimits.messageBytes
    /// Fields of a header that is not compared with the columns: each takes 32 bytes, and of a row no more than its own are kept.
    static let headerFields = 65_536
    /// What a socket is read with at a time: as much as a client's socket buffer holds.
    static let readBytes = 192 << 10
    /// How much of a wrong value an error shows; PostgreSQL's MAX_COPY_DATA_DISPLAY (src/backend/commands/copyfrom.c).
    static let shownBytes = 100
}
