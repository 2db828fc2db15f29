/// How a parameter or a column travels.
public enum Format: Int16, Sendable {
    case text = 0
    case binary = 1
}
