import Glibc
import POSIX

/// Runs one hot path so many times and nothing else: `bench/micro` counts its instructions under callgrind, once with
/// N operations and once with 2 N, and the difference is what N operations cost, without what came before and after.
@main
struct WalpoolMicro {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.elementsEqual(["list"]) {
            for path in MicroPath.all { print(path.name, path.operations, path.what, separator: "\t") }
            return
        }
        guard arguments.count == 2, let path = MicroPath.all.first(where: { $0.name == arguments.first }),
            let count = arguments.last.flatMap({ Int($0) }), count > 0
        else {
            print("usage: walpool-micro list | walpool-micro PATH OPERATIONS")
            exit(2)
        }
        print(try path.run(count))
    }

    /// Where the scratch database fails there is nothing to measure, and nobody but whoever runs this to tell.
    static func giveUp(_ why: String) -> Never {
        StandardError.write("walpool-micro: \(why)\n")
        exit(1)
    }
}
