extension ClosedRange<Double> {
    /// For complaints. Many things are switched off with 0.
    public var orZero: String {
        let span = "\(Self.short(lowerBound)) to \(Self.short(upperBound))"
        return lowerBound > 0 ? "0, or a number from \(span)" : "a number from \(span)"
    }

    /// Without ".0".
    private static func short(_ bound: Double) -> String {
        Int64(exactly: bound).map(String.init) ?? String(bound)
    }
}
