/** An `emptyDir` of the Pod: it can be written and executed from whatever the root file system allows. */
export const RUNTIME_FOLDER = '/run/atelier'
export const HOME = `${RUNTIME_FOLDER}/home`
/** A link to a node of the image, or one that was put in. */
export const NODE = `${RUNTIME_FOLDER}/node`
export const SCRIPT = `${RUNTIME_FOLDER}/gateway.mjs`
/** Private folder of the gateway, with its socket. */
export const GATEWAY_FOLDER = `${RUNTIME_FOLDER}/run`
/** Where an image may bring the gateway, or a node for it, along. */
const BAKED_FOLDER = '/opt/atelier'
export const OLDEST_NODE = 18

/** A Pod whose gateway nobody puts in ends after this. */
const UNATTENDED_S = 120
/** Time that hosts at work do not count for: a node of 100 MB may need minutes. */
const PUT_IN_S = 600
/** A host that finds another one at work waits for it this long before it does the work itself. */
const OTHER_HOST_S = 30

/**
 * The container's first process: waits until the gateway is there, runs it as its child, passes signals on, reaps orphans (which
 * `wait` does in every shell) and ends as the gateway did.
 */
export const INIT = `cd ${RUNTIME_FOLDER} || exit 70
trap 'exit 143' TERM INT HUP
if sleep 0.05 2>/dev/null; then pause=0.05 left=$((${UNATTENDED_S} * 20)) busy=$((${PUT_IN_S} * 20)); else pause=1 left=${UNATTENDED_S} busy=${PUT_IN_S}; fi
until [ -e ready ]; do
  if [ -d claimed ] && [ $busy -gt 0 ]; then busy=$((busy - 1)); else left=$((left - 1)); fi
  if [ $left -lt 0 ]; then echo 'no host put the gateway in within ${UNATTENDED_S} s' >&2; exit 71; fi
  sleep $pause
done
trap 'kill -TERM $child 2>/dev/null' TERM INT HUP
"$@" &
child=$!
while :; do
  wait $child
  code=$?
  if [ $code -gt 128 ] && kill -0 $child 2>/dev/null; then continue; fi
  exit $code
done`

/**
 * Puts in what is missing, in one exec: says \`ready\`, or what there is and \`send\`; then reads a line with the sizes of a node and
 * of the program (0: not needed), and their bytes. The program's SHA-256 is the argument.
 */
export const PUT_IN = `cd ${RUNTIME_FOLDER} || exit 70
hash=$1
if [ -e ready ]; then echo ready; exit 0; fi
left=$((${OTHER_HOST_S} * 5))
until mkdir claimed 2>/dev/null || [ $left -le 0 ]; do
  sleep 0.2 2>/dev/null || { sleep 1; left=$((left - 4)); }
  left=$((left - 1))
  if [ -e ready ]; then echo ready; exit 0; fi
done
new=new.$$
trap 'rm -rf $new; rmdir claimed 2>/dev/null' EXIT
node=
for each in "$(command -v node)" ${BAKED_FOLDER}/node; do
  if [ -z "$each" ] || [ ! -x "$each" ]; then continue; fi
  version=$("$each" -p 'process.versions.node' 2>/dev/null)
  if [ "\${version%%.*}" -ge ${OLDEST_NODE} ] 2>/dev/null; then node=$each; break; fi
  echo "old \${version:-that does not run}"
done
if [ -n "$node" ]; then echo "node $node"; fi
script=
baked=${BAKED_FOLDER}/gateway.mjs
if [ -f $baked ] && [ "$(sha256sum < $baked | cut -c1-64)" = "$hash" ]; then script=$baked; echo "script $script"; fi
for file in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 /lib64/ld-linux-aarch64.so.1; do
  if [ -e $file ]; then echo glibc; fi
done
echo "system $(uname -s)"
echo "cpu $(uname -m)"
echo send
read -r node_size script_size || exit 1
whole=$((node_size + script_size))
mkdir $new || exit 1
if [ $whole -gt 0 ]; then
  head -c $whole > $new/all || exit 1
  if [ $(wc -c < $new/all) -ne $whole ]; then echo 'cut short' >&2; exit 1; fi
fi
if [ $node_size -gt 0 ]; then head -c $node_size $new/all > $new/node && chmod 755 $new/node || exit 1; else ln -s "$node" $new/node || exit 1; fi
if [ $script_size -gt 0 ]; then tail -c $script_size $new/all > $new/gateway.mjs && chmod 755 $new/gateway.mjs || exit 1
else ln -s "$script" $new/gateway.mjs || exit 1; fi
mv -f $new/node node && mv -f $new/gateway.mjs gateway.mjs || exit 1
mkdir -p run home && chmod 700 run home || exit 1
: > ready
echo done`
