/// Where a parameter's value comes from. Variables have been replaced by their numbers already.
public indirect enum Expression: Equatable, Sendable {
    case integer(Int64)
    /// A value that `let` drew, by its place in the transaction's list.
    case local(Int, isText: Bool)
    /// The number of the client within its class, from 0.
    case client
    /// How many clients the class has.
    case clients
    /// A number that no other draw of any client of the class gets: see `Draws.sequence`.
    case sequence
    case uniform(from: Int64, to: Int64)
    /// From 0 to below n, some far more often than others: see `Zipfian`.
    case zipfian(Int64)
    /// From 0 to below n and the rows this client has added, the newest most often.
    case latest(Int64)
    /// Letters and digits.
    case text(length: Int)
    /// YCSB's key of that number: "user" and the number, padded with zeros to twelve digits.
    case key(Expression)
    case arithmetic(Operator, Expression, Expression)

    /// On whole numbers; the raw value is how the file spells it. A division is cut off towards 0.
    public enum Operator: Character, Equatable, Sendable {
        case plus = "+", minus = "-", times = "*", divided = "/", remainder = "%"

        /// Nil where there is no result.
        func apply(_ left: Int64, _ right: Int64) -> Int64? {
            let (value, overflow): (Int64, Bool) =
                switch self {
                case .plus: left.addingReportingOverflow(right)
                case .minus: left.subtractingReportingOverflow(right)
                case .times: left.multipliedReportingOverflow(by: right)
                case .divided: left.dividedReportingOverflow(by: right)
                case .remainder: left.remainderReportingOverflow(dividingBy: right)
                }
            return overflow ? nil : value
        }
    }

    var isText: Bool {
        switch self {
        case .text, .key: true
        case .local(_, let isText): isText
        default: false
        }
    }
}
