/// What a line in the log is about. A person or program that filters a log goes by this and not by the words.
///
/// Each has a 128-bit number, the journal's MESSAGE_ID: "A 128-bit message identifier ID for recognizing certain message
/// types, if this is desirable … developers can generate a new ID for this purpose with systemd-id128 new"
/// (https://www.freedesktop.org/software/systemd/man/systemd.journal-fields.html). One that was released stays as it is
/// and is never given to another kind.
package enum EventKind: String, CaseIterable, Sendable {
    case started
    case stopping
    case stopped
    case reloaded
    case paused
    case connected
    case disconnected
    case accessDenied = "access_denied"
    case clientError = "client_error"
    case slowStatement = "slow_statement"
    case slowGroup = "slow_group"
    case lockWait = "lock_wait"
    case lockWaitEnded = "lock_wait_ended"
    case killed
    case sessionEvicted = "session_evicted"
    case snapshotsEnded = "snapshots_ended"
    case checkpoint
    case checkpointTrouble = "checkpoint_trouble"
    case vacuum
    case vacuumTrouble = "vacuum_trouble"
    case backup
    case backupTrouble = "backup_trouble"
    case ioError = "io_error"
    case recovery
    case stuck
    case cannotGoOn = "cannot_go_on"
    case outsider
    case outOfDescriptors = "out_of_descriptors"
    case socketLost = "socket_lost"
    case catalogQuery = "catalog_query"
    case linesLeftOut = "lines_left_out"

    /// 32 hexadecimal digits, as the journal wants them.
    package var messageID: String {
        switch self {
        case .started: "b31dc12500cd4b60a42721694d0b8d93"
        case .stopping: "f6726860d73641c5a539efef0e2756e7"
        case .stopped: "85071adf97f64a64b66a3fa7548ffdc7"
        case .reloaded: "1793686877754b919891e1bc8382c106"
        case .paused: "ffa7d216484b416a9ea38f80a396a514"
        case .connected: "b69f6a440c614dd586c1ad970915b635"
        case .disconnected: "7f9dbd21c0bb43318574553c073749a5"
        case .accessDenied: "8a03206bb72e4c1c916f92d15e1b9590"
        case .clientError: "739644ccb386490ca8022b11c8454e22"
        case .slowStatement: "b05749fd4a924ec390fb3de627692445"
        case .slowGroup: "9acb276026324a1e9deffc467c388297"
        case .lockWait: "8499a8fc756e4beda2555b0c7914c7cf"
        case .lockWaitEnded: "a7b85c2d5fe943bb8c853f19451472bf"
        case .killed: "5411a3545519491a82b6283a496839e3"
        case .sessionEvicted: "f88bd1308f88480ea9b3012ff63765c8"
        case .snapshotsEnded: "ad7afab137c447ba9ae868b42f4b0f8c"
        case .checkpoint: "11d8226340f943e6a9e234fa100d00b1"
        case .checkpointTrouble: "e149a4fbb9c74888aa667e1c5d96fb5d"
        case .vacuum: "84b761e09304428cab7affabcf88b607"
        case .vacuumTrouble: "7b60c389618a4f5fa04ce4de8bdab563"
        case .backup: "5f05851287fa45e0a3a7365b9fed5781"
        case .backupTrouble: "8ee2a9dcde1e40f19995f904d516408c"
        case .ioError: "85fed4ee1bdb4768b4ab19610afc0257"
        case .recovery: "dde80f439985494390828b93aa1d5ef3"
        case .stuck: "463d2f2e393c4e6a92f14cea40b9e6cc"
        case .cannotGoOn: "2888b82fa40045e6ad48fcf96280657a"
        case .outsider: "b9667dafd44a4a2295b430931c4741b4"
        case .outOfDescriptors: "4c323f88e93445e0b15e182f73f63362"
        case .socketLost: "564239b04d2c4448827a29b7f86b83f3"
        case .catalogQuery: "9c750007d94d4f44902f5a0054692128"
        case .linesLeftOut: "2e19142e2ce1468c88d240f43d3df010"
        }
    }
}

extension EventKind: CustomStringConvertible {
    package var description: String { rawValue }
}
