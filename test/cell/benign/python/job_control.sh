set -euo pipefail
sleep 30 & first=$!
{ echo "in the background"; } &
wait $!
kill "$first"
wait "$first" && exit 1
coproc cat
echo hello >&"${COPROC[1]}"
read -r line <&"${COPROC[0]}"
[ "$line" = hello ]
diff <(printf 'a\nb\n') <(printf 'a\nb\n')
set -m  # Process groups of their own, as in a terminal, without one.
sleep 30 & third=$!
jobs %% | grep -q 'sleep 30'
[ "$(cut -d ' ' -f 5 "/proc/$third/stat")" = "$third" ]
kill -STOP -- "-$third"
kill -CONT -- "-$third"
kill -- "-$third"
wait "$third" && exit 1
set +m
trap 'echo trapped' USR1
kill -USR1 $$
timeout 20 true
seq 1000 | xargs -P 4 -n 100 echo | wc -l | grep -qx 10
( ulimit -n > /dev/null; cd /tmp; : > file; [ -w file ] )
echo "on stderr" > /dev/stderr
