/// One value in a row of a catalog.
enum CatalogValue: Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    case int(Int), text(String), null

    init(integerLiteral value: Int) { self = .int(value) }
    init(stringLiteral value: String) { self = .text(value) }
}
