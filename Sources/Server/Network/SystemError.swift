import Glibc

/// A system call that failed, with errno as it was.
package struct SystemError: Error, CustomStringConvertible {
    /// Its name.
    package let call: String
    package let errorNumber: Int32

    init(_ call: String, _ errorNumber: Int32 = errno) {
        self.call = call
        self.errorNumber = errorNumber
    }

    package var description: String { "\(call): \(String(cString: strerror(errorNumber)))" }
}
