/// SHOW CONFIG: the keys of the configuration file with what is in force of them.
extension Server {
    func showConfiguration(_ rows: inout ConsoleTable) {
        for row in configurationRows {
            rows.append([.text(row.key), .init(row.value), .init(row.defaultValue), .init(row.isChangeable)])
        }
    }
}
