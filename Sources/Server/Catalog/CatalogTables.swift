/// PostgreSQL 15's catalogs, with the columns that clients name.
/// https://www.postgresql.org/docs/15/catalogs.html
enum CatalogTables {
    /// A line for each table, `name column:type …`; a line that is indented goes on with the one before.
    static let text = """
        pg_class oid:oid relname:name relnamespace:oid reltype:oid reloftype:oid relowner:oid relam:oid
          relfilenode:oid reltablespace:oid relpages:int4 reltuples:float4 relallvisible:int4 reltoastrelid:oid
          relhasindex:bool relisshared:bool relpersistence:char relkind:char relnatts:int2 relchecks:int2
          relhasrules:bool relhastriggers:bool relhassubclass:bool relrowsecurity:bool relforcerowsecurity:bool
          relispopulated:bool relreplident:char relispartition:bool relrewrite:oid relfrozenxid:int8 relminmxid:int8
          relacl:text[] reloptions:text[] relpartbound:text
        pg_attribute attrelid:oid attname:name atttypid:oid attstattarget:int4 attlen:int2 attnum:int2 attndims:int4
          attcacheoff:int4 atttypmod:int4 attbyval:bool attalign:char attstorage:char attcompression:char
          attnotnull:bool atthasdef:bool atthasmissing:bool attidentity:char attgenerated:char attisdropped:bool
          attislocal:bool attinhcount:int4 attcollation:oid attacl:text[] attoptions:text[] attfdwoptions:text[]
          attmissingval:text
        pg_attrdef oid:oid adrelid:oid adnum:int2 adbin:text
        pg_type oid:oid typname:name typnamespace:oid typowner:oid typlen:int2 typbyval:bool typtype:char
          typcategory:char typispreferred:bool typisdefined:bool typdelim:char typrelid:oid typsubscript:text
          typelem:oid typarray:oid typinput:regproc typoutput:regproc typreceive:regproc typsend:regproc typmodin:text
          typmodout:text typanalyze:text typalign:char typstorage:char typnotnull:bool typbasetype:oid typtypmod:int4
          typndims:int4 typcollation:oid typdefaultbin:text typdefault:text typacl:text[]
        pg_namespace oid:oid nspname:name nspowner:oid nspacl:text[]
        pg_index indexrelid:oid indrelid:oid indnatts:int2 indnkeyatts:int2 indisunique:bool indnullsnotdistinct:bool
          indisprimary:bool indisexclusion:bool indimmediate:bool indisclustered:bool indisvalid:bool indcheckxmin:bool
          indisready:bool indislive:bool indisreplident:bool indkey:int2vector indcollation:oidvector indclass:oidvector
          indoption:int2vector indexprs:text indpred:text
        pg_constraint oid:oid conname:name connamespace:oid contype:char condeferrable:bool condeferred:bool
          convalidated:bool conrelid:oid contypid:oid conindid:oid conparentid:oid confrelid:oid confupdtype:char
          confdeltype:char confmatchtype:char conislocal:bool coninhcount:int4 connoinherit:bool conkey:int2[]
          confkey:int2[] conpfeqop:oid[] conppeqop:oid[] conffeqop:oid[] confdelsetcols:int2[] conexclop:oid[]
          conbin:text
        pg_am oid:oid amname:name amhandler:text amtype:char
        pg_database oid:oid datname:name datdba:oid encoding:int4 datlocprovider:char datistemplate:bool
          datallowconn:bool datconnlimit:int4 datfrozenxid:int8 datminmxid:int8 dattablespace:oid datcollate:text
          datctype:text daticulocale:text datcollversion:text datacl:text[]
        pg_roles rolname:name rolsuper:bool rolinherit:bool rolcreaterole:bool rolcreatedb:bool rolcanlogin:bool
          rolreplication:bool rolconnlimit:int4 rolpassword:text rolvaliduntil:text rolbypassrls:bool rolconfig:text[]
          oid:oid
        pg_auth_members roleid:oid member:oid grantor:oid admin_option:bool
        pg_proc oid:oid proname:name pronamespace:oid proowner:oid prolang:oid procost:float4 prorows:float4
          provariadic:oid prosupport:text prokind:char prosecdef:bool proleakproof:bool proisstrict:bool proretset:bool
          provolatile:char proparallel:char pronargs:int2 pronargdefaults:int2 prorettype:oid proargtypes:oidvector
          proallargtypes:oid[] proargmodes:char[] proargnames:text[] proargdefaults:text protrftypes:oid[] prosrc:text
          probin:text prosqlbody:text proconfig:text[] proacl:text[]
        pg_language oid:oid lanname:name lanowner:oid lanispl:bool lanpltrusted:bool lanplcallfoid:oid laninline:oid
          lanvalidator:oid lanacl:text[]
        pg_description objoid:oid classoid:oid objsubid:int4 description:text
        pg_shdescription objoid:oid classoid:oid description:text
        pg_inherits inhrelid:oid inhparent:oid inhseqno:int4 inhdetachpending:bool
        pg_trigger oid:oid tgrelid:oid tgparentid:oid tgname:name tgfoid:oid tgtype:int2 tgenabled:char
          tgisinternal:bool tgconstrrelid:oid tgconstrindid:oid tgconstraint:oid tgdeferrable:bool tginitdeferred:bool
          tgnargs:int2 tgattr:int2vector tgargs:bytea tgqual:text tgoldtable:name tgnewtable:name
        pg_policy oid:oid polname:name polrelid:oid polcmd:char polpermissive:bool polroles:oid[] polqual:text
          polwithcheck:text
        pg_statistic_ext oid:oid stxrelid:oid stxname:name stxnamespace:oid stxowner:oid stxstattarget:int4
          stxkeys:int2vector stxkind:char[] stxexprs:text
        pg_publication oid:oid pubname:name pubowner:oid puballtables:bool pubinsert:bool pubupdate:bool
          pubdelete:bool pubtruncate:bool pubviaroot:bool
        pg_publication_rel oid:oid prpubid:oid prrelid:oid prqual:text prattrs:int2vector
        pg_publication_namespace oid:oid pnpubid:oid pnnspid:oid
        pg_collation oid:oid collname:name collnamespace:oid collowner:oid collprovider:char collisdeterministic:bool
          collencoding:int4 collcollate:text collctype:text colliculocale:text collversion:text
        pg_sequence seqrelid:oid seqtypid:oid seqstart:int8 seqincrement:int8 seqmax:int8 seqmin:int8 seqcache:int8
          seqcycle:bool
        pg_tablespace oid:oid spcname:name spcowner:oid spcacl:text[] spcoptions:text[]
        pg_extension oid:oid extname:name extowner:oid extnamespace:oid extrelocatable:bool extversion:text
          extconfig:oid[] extcondition:text[]
        pg_enum oid:oid enumtypid:oid enumsortorder:float4 enumlabel:name
        pg_range rngtypid:oid rngsubtype:oid rngmultitypid:oid rngcollation:oid rngsubopc:oid rngcanonical:text
          rngsubdiff:text
        pg_opclass oid:oid opcmethod:oid opcname:name opcnamespace:oid opcowner:oid opcfamily:oid opcintype:oid
          opcdefault:bool opckeytype:oid
        pg_opfamily oid:oid opfmethod:oid opfname:name opfnamespace:oid opfowner:oid
        pg_operator oid:oid oprname:name oprnamespace:oid oprowner:oid oprkind:char oprcanmerge:bool oprcanhash:bool
          oprleft:oid oprright:oid oprresult:oid oprcom:oid oprnegate:oid oprcode:text oprrest:text oprjoin:text
        pg_aggregate aggfnoid:text aggkind:char aggnumdirectargs:int2 aggtransfn:text aggfinalfn:text
          aggcombinefn:text aggserialfn:text aggdeserialfn:text aggmtransfn:text aggminvtransfn:text aggmfinalfn:text
          aggfinalextra:bool aggmfinalextra:bool aggfinalmodify:char aggmfinalmodify:char aggsortop:oid aggtranstype:oid
          aggtransspace:int4 aggmtranstype:oid aggmtransspace:int4 agginitval:text aggminitval:text
        pg_cast oid:oid castsource:oid casttarget:oid castfunc:oid castcontext:char castmethod:char
        pg_conversion oid:oid conname:name connamespace:oid conowner:oid conforencoding:int4 contoencoding:int4
          conproc:text condefault:bool
        pg_rewrite oid:oid rulename:name ev_class:oid ev_type:char ev_enabled:char is_instead:bool ev_qual:text
          ev_action:text
        pg_depend classid:oid objid:oid objsubid:int4 refclassid:oid refobjid:oid refobjsubid:int4 deptype:char
        pg_foreign_table ftrelid:oid ftserver:oid ftoptions:text[]
        pg_foreign_server oid:oid srvname:name srvowner:oid srvfdw:oid srvtype:text srvversion:text srvacl:text[]
          srvoptions:text[]
        pg_foreign_data_wrapper oid:oid fdwname:name fdwowner:oid fdwhandler:oid fdwvalidator:oid fdwacl:text[]
          fdwoptions:text[]
        pg_event_trigger oid:oid evtname:name evtevent:name evtowner:oid evtfoid:oid evtenabled:char evttags:text[]
        pg_default_acl oid:oid defaclrole:oid defaclnamespace:oid defaclobjtype:char defaclacl:text[]
        pg_partitioned_table partrelid:oid partstrat:char partnatts:int2 partdefid:oid partattrs:int2vector
          partclass:oidvector partcollation:oidvector partexprs:text
        pg_settings name:text setting:text unit:text category:text short_desc:text extra_desc:text context:text
          vartype:text source:text min_val:text max_val:text enumvals:text[] boot_val:text reset_val:text
          sourcefile:text sourceline:int4 pending_restart:bool
        pg_cursors name:text statement:text is_holdable:bool is_binary:bool is_scrollable:bool creation_time:timestamptz
        pg_user usename:name usesysid:oid usecreatedb:bool usesuper:bool userepl:bool usebypassrls:bool passwd:text
          valuntil:text useconfig:text[]
        pg_policies schemaname:name tablename:name policyname:name permissive:text roles:name[] cmd:text qual:text with_check:text
        pg_user_mappings umid:oid srvid:oid srvname:name umuser:oid usename:name umoptions:text[]
        pg_parameter_acl oid:oid parname:text paracl:text[]
        pg_stat_gssapi pid:int4 gss_authenticated:bool principal:text encrypted:bool
        pg_ts_config oid:oid cfgname:name cfgnamespace:oid cfgowner:oid cfgparser:oid
        pg_ts_dict oid:oid dictname:name dictnamespace:oid dictowner:oid dicttemplate:oid dictinitoption:text
        pg_ts_parser oid:oid prsname:name prsnamespace:oid prsstart:text prstoken:text prsend:text prsheadline:text
          prslextype:text
        pg_ts_template oid:oid tmplname:name tmplnamespace:oid tmplinit:text tmpllexize:text
        pg_subscription oid:oid subdbid:oid subskiplsn:text subname:name subowner:oid subenabled:bool subbinary:bool
          substream:bool subtwophasestate:char subdisableonerr:bool subconninfo:text subslotname:name subsynccommit:text
          subpublications:text[]
        pg_db_role_setting setdatabase:oid setrole:oid setconfig:text[]
        pg_matviews schemaname:name matviewname:name matviewowner:name tablespace:name hasindexes:bool
          ispopulated:bool definition:text
        pg_sequences schemaname:name sequencename:name sequenceowner:name data_type:text start_value:int8
          min_value:int8 max_value:int8 increment_by:int8 cycle:bool cache_size:int8 last_value:int8
        pg_amop oid:oid amopfamily:oid amoplefttype:oid amoprighttype:oid amopstrategy:int2 amoppurpose:char
          amopopr:oid amopmethod:oid amopsortfamily:oid
        pg_amproc oid:oid amprocfamily:oid amproclefttype:oid amprocrighttype:oid amprocnum:int2 amproc:text
        pg_largeobject_metadata oid:oid lomowner:oid lomacl:text[]
        """

    /// By table: columns with their types, in order.
    static let columns: [(table: String, columns: [(name: String, type: String)])] = {
        var result: [(table: String, columns: [(name: String, type: String)])] = []
        for line in text.split(separator: "\n") {
            var words = line.split(separator: " ").map(String.init)
            if !line.hasPrefix(" ") { result.append((words.removeFirst(), [])) }
            for word in words {
                let parts = word.split(separator: ":").map(String.init)
                result[result.count - 1].columns.append((parts[0], parts[1]))
            }
        }
        return result
    }()

    /// The names of the tables and of those views that stand beside them.
    static let names = Set(columns.map(\.table) + CatalogViews.names)

    /// By column's name, whose prefix says which table it is from.
    static let columnTypes: [String: String] = {
        var types: [String: String] = [:]
        for table in columns { for column in table.columns where types[column.name] == nil { types[column.name] = column.type } }
        return types
    }()

    /// The words decide SQLite's affinity; the last of them is the type clients are told.
    static func declaration(of type: String) -> String {
        switch type {
        case "oid", "int2", "int4", "int8", "bool": "INT \(type)"
        case "float4", "float8": "REAL \(type)"
        case "bytea": "BLOB bytea"
        default: "TEXT \"\(type)\""
        }
    }
}
