/// File systems that other machines have, too.
public enum NetworkFileSystem {
    /// What it is called; nil: it is none of these.
    ///
    /// - Parameter type: the number that statfs(2) gives it.
    public static func name(_ type: UInt32) -> String? {
        switch type {
        case 0x6969: "NFS"
        case 0x517b, 0xff53_4d42, 0xfe53_4d42: "SMB"
        case 0x0102_1997: "9p"
        default: nil
        }
    }
}
