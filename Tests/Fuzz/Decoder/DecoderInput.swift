/// One input of the decoder target: its first byte says what the rest is.
enum DecoderInput {
    static func check(_ input: UnsafeRawBufferPointer) {
        guard let first = input.first else { return }
        let rest = UnsafeRawBufferPointer(rebasing: input.dropFirst())
        onExactCopy(rest) { bytes in
            switch first % 8 {
            case 0: MessageRules.check(bytes)
            case 1: StartupRules.check(bytes)
            case 2: SQLTextRules.check(bytes)
            case 3: SQLiteRules.check(bytes)
            case 4: CodecRules.check(bytes)
            case 5: ParameterRules.check(bytes)
            case 6: EncoderRules.check(bytes)
            default: SettingRules.check(bytes)
            }
        }
    }
}
