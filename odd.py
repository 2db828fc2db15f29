import sys; sys.path.insert(0,"/work/main/Tests/BlackBox"); import os
os.environ["WALPOOLD"]="/tmp/ab/bin/walpoold."+sys.argv[1]
from daemon import Daemon
import psycopg, time, threading
d=Daemon(options=["--readers","2"]); d.may_fail=True
c=psycopg.connect(host=str(d.directory),dbname=d.name,autocommit=True)
o=psycopg.connect(host=str(d.directory),dbname=d.name,autocommit=True)
def t(n,q,lim="3s"):
    c.execute(f"set statement_timeout='{lim}'")
    stop=[];worst=[0,0]
    def by():
        while not stop:
            b=time.time(); o.execute("select count(*) from small").fetchall(); worst[0]=max(worst[0],time.time()-b)
            b=time.time(); o.execute("select relname from pg_class limit 1").fetchall(); worst[1]=max(worst[1],time.time()-b);time.sleep(.02)
    th=threading.Thread(target=by); th.start()
    a=time.time()
    try: r="%d rows"%len(c.execute(q).fetchall())
    except Exception as e: r=type(e).__name__+" "+str(e).split("\n")[0][:90]
    e=time.time()-a; stop.append(1); th.join()
    print(sys.argv[1],n,"%.2f"%e,r,"bystander %.2f catalog %.2f"%tuple(worst),flush=True)
try:
    c.execute("create table small(a)")
    k=1900; cols=["c%d"%i for i in range(k)]
    c.execute("create table p("+",".join(cols)+", primary key("+",".join(cols)+"))")
    t("p only",'select * from information_schema.key_column_usage')
    n=int(sys.argv[2])
    c.execute("create table f("+",".join(cols)+","+",".join("foreign key("+",".join(cols)+") references p("+",".join(reversed(cols))+")" for _ in range(n))+")")
    a=time.time(); t("first class","select count(*) from pg_class")
    t("kcu",'select * from information_schema.key_column_usage')
    t("kcu where",'select * from information_schema.key_column_usage where table_name=\'f\' limit 5')
    t("ref",'select * from information_schema.referential_constraints')
    t("ccu",'select * from information_schema.constraint_column_usage')
    t("constraintdef",'select pg_get_constraintdef(oid) from pg_constraint')
    t("conkey text",'select conkey::text from pg_constraint')
    t("unnest",'select unnest(conkey) from pg_constraint')
    t("unnest join","select a.attname from pg_constraint k cross join lateral unnest(k.conkey) with ordinality x(n,o) join pg_attribute a on a.attrelid=k.conrelid and a.attnum=x.n")
    t("= any","select count(*) from pg_constraint k join pg_attribute a on a.attrelid=k.conrelid and a.attnum = any(k.conkey)")
    t("confkey[i]","select count(k.confkey[a.attnum]) from pg_constraint k join pg_attribute a on a.attrelid=k.conrelid")
    # cancel
    def canc(): time.sleep(1); c.cancel()
    threading.Thread(target=canc).start(); t("kcu cancel",'select * from information_schema.key_column_usage',"60s")
except Exception as e: print("STOP",type(e),str(e)[:300],d.process.poll())
try: d.stop()
except BaseException as e: print(str(e)[:200])
