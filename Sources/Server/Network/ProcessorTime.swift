import CLinux
import Glibc
import POSIX

/// Processors, and how long threads have been on one: what does not move hangs.
package enum ProcessorTime {
    /// How many processors this process may use: all that there are, unless somebody has bound it to some of them.
    static var usableProcessors: Int {
        let bound = Int(walpool_usable_processors())
        return max(1, bound > 0 ? bound : sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }

    /// nil when there is no such thread in this process.
    static func nanoseconds(ofThread number: Int32) -> Int64? {
        let used = walpool_processor_nanoseconds(number)
        return used < 0 ? nil : used
    }

    /// Of all threads of this process but the calling one, together. It goes down when one ends.
    package static var nanosecondsOfOtherThreads: Int64 {
        let own = walpool_thread_number()
        return (Directory.names(in: "/proc/self/task") ?? []).reduce(0) { sum, name in
            guard let number = Int32(name), number != own else { return sum }
            return sum &+ (nanoseconds(ofThread: number) ?? 0)
        }
    }
}
