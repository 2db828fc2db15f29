import Glibc

/// A system call that failed, with errno as it was.
public struct SystemError: Error, CustomStringConvertible {
    public let call: String
    public let errorNumber: Int32

    init(_ call: String, _ errorNumber: Int32 = errno) {
        self.call = call
        self.errorNumber = errorNumber
    }

    public var description: String { "\(call): \(String(cString: strerror(errorNumber)))" }
}
