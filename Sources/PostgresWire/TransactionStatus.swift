/// "Current backend transaction status indicator. Possible values are 'I' if idle (not in a transaction block);
/// 'T' if in a transaction block; or 'E' if in a failed transaction block (queries will be rejected until block
/// is ended)", https://www.postgresql.org/docs/current/protocol-message-formats.html
public enum TransactionStatus: UInt8, Sendable {
    case idle = 0x49
    case inTransaction = 0x54
    case failed = 0x45
}
