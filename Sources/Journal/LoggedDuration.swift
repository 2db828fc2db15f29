/// A time that something took. In a line it reads as milliseconds, as PostgreSQL writes them; as a field of the journal it
/// is a whole number of microseconds under a name that ends in `_USEC`, as the journal's own fields have it.
package struct LoggedDuration: CustomStringConvertible, Equatable, Sendable {
    package var microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }
    /// Cut to whole microseconds.
    package init(nanoseconds: Int64) { microseconds = nanoseconds / 1000 }
    package init(milliseconds: Int64) { microseconds = milliseconds.multipliedReportingOverflow(by: 1000).partialValue }

    package var description: String {
        let (whole, rest) = max(0, microseconds).quotientAndRemainder(dividingBy: 1000)
        let digits = String(rest)
        return "\(whole).\(String(repeating: "0", count: 3 - digits.count))\(digits)ms"
    }
}
