import Pool
import Testing

@testable import Configuration
@testable import Server

/// What an error's hint names must be what the configuration file takes.
struct HintTests {
    private static let known =
        Set(ConfigurationKey.all.map(\.name) + ConfigurationSection.access.keys.map(\.name))

    /// Those whose errors name some.
    private static let naming: [StopReason] = [.statementTimeout, .writerTimeLimit, .lockTimeout, .snapshotTooOld]

    @Test("A hint of a statement that was told to stop names keys and settings that exist", arguments: StopReason.allCases)
    func stops(_ reason: StopReason) {
        let error = ErrorTranslation.wireError(reason)
        let text = "\(error.detail ?? "") \(error.hint ?? "")"
        let words = text.split(whereSeparator: { !$0.isLetter && $0 != "_" }).filter { $0.contains("_") }
        #expect(words.isEmpty != Self.naming.contains(reason), "\(text)")
        for word in words {
            #expect(Self.known.contains(String(word)), "\(word) in: \(text)")
        }
    }
}
