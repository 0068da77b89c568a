import { counted } from '@hotcell/contract/format.ts';
import type { ExportIndex } from './export-layout.ts';
import { unproven } from './unproven.ts';

interface Guided extends Pick<ExportIndex, 'contents' | 'runs'> {
  /** The fingerprint of the root that signed the list of keys in the export. */
  root: string;
}

/**
 * How to check an export, with Hotcell and without. A test executes these commands as they stand. A verifier makes the
 * text again and compares, because a reader follows what it says. From the first release on, a change of this text has to
 * keep the earlier one: exports that were made with it would show as changed.
 */
export function verifyGuide({ runs, contents, root }: Guided): string {
  const { inputs, outputs } = contents;
  return `# Verify this export

It has the evidence of ${counted(runs.length, 'run')}. Everything below works without a network and without the system that made it.

You need one thing that is **not** in here: the public key of the root, \`root.pem\`. Get it from the operator by another way (\`./hotcell key export-root\`), and compare its fingerprint. The root that signed the list of keys here said of itself that it is:

    ${root}

## With Hotcell
The archive, or the folder into which you unpacked it:

    ./hotcell verify --offline EXPORT --trust root.pem

It checks everything that follows here, judges each run again by its policy, and compares every file in here with what was signed. The exit code is 3 unless every run is VALID.

## With other tools
In the folder into which you unpacked the archive.

**1. The list of keys is the root's.** A signature is over the DSSE form (PAE) of what it signs. This writes that form of any file with an envelope, with OpenSSL's help:

\`\`\`sh
cat > dsse.py <<'END'
import base64, json, sys
envelope = json.load(open(sys.argv[1]))
envelope = envelope.get('dsseEnvelope', envelope)
kind, body = envelope['payloadType'].encode(), base64.b64decode(envelope['payload'])
open('payload', 'wb').write(body)
open('signed', 'wb').write(b'DSSEv1 %d %s %d %s' % (len(kind), kind, len(body), body))
open('signature', 'wb').write(base64.b64decode(envelope['signatures'][0]['sig']))
END
python3 dsse.py keys/list.json
openssl dgst -sha256 -verify root.pem -signature signature signed
\`\`\`

\`payload\` is now the list: each key with role, name, fingerprint, from when until when it counts, and since when it is revoked.

**2. The keys in here are those of the list.** The name of each file has the fingerprint, which is the sha256 of the key's DER form. Each of these must stand in the list:

\`\`\`sh
for key in keys/*.pem; do
  fingerprint=$(openssl pkey -pubin -in "$key" -outform der | openssl dgst -sha256 -r | cut -d ' ' -f 1)
  case "$key" in *-"$fingerprint".pem) ;; *) echo "$key is another key"; exit 1 ;; esac
  grep -q "\\"fingerprint\\":\\"sha256:$fingerprint\\"" payload || { echo "$key is not on the list"; exit 1; }
done
\`\`\`

**3. Each statement is signed, and is about this result.** With OpenSSL alone:

\`\`\`sh
key_of() { ls keys/*-"$(sed 's/.*"hint":"sha256:\\([0-9a-f]*\\)".*/\\1/' "$1/evidence.sigstore.json")".pem; }
for run in runs/*; do
  [ -e "$run/evidence.sigstore.json" ] || continue
  python3 dsse.py "$run/evidence.sigstore.json"
  openssl dgst -sha256 -verify "$(key_of "$run")" -signature signature signed
  for subject in result.json outputs.manifest.json; do
    digest=$(openssl dgst -sha256 -r "$run/$subject" | cut -d ' ' -f 1)
    grep -q "\\"sha256\\":\\"$digest\\"},\\"name\\":\\"$subject\\"" payload || { echo "$run/$subject is not what was signed"; exit 1; }
  done
done
\`\`\`

With cosign 2.5 (leave out \`--new-bundle-format\` and \`--trusted-root\` from version 3 on):

\`\`\`sh cosign
echo '{"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1"}' > none.json
for run in runs/*; do
  [ -e "$run/evidence.sigstore.json" ] || continue
  cosign verify-blob-attestation --new-bundle-format --trusted-root none.json --insecure-ignore-tlog=true \\
    --type slsaprovenance1 --bundle "$run/evidence.sigstore.json" \\
    --key keys/*-"$(sed 's/.*"hint":"sha256:\\([0-9a-f]*\\)".*/\\1/' "$run/evidence.sigstore.json")".pem "$run/result.json"
done
\`\`\`

With Python and securesystemslib (\`pip install securesystemslib[crypto]\`):

\`\`\`python
import glob, json, os
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

for path in glob.glob('runs/*/evidence.sigstore.json'):
    bundle = json.load(open(path))
    hint = bundle['verificationMaterial']['publicKey']['hint'].removeprefix('sha256:')
    [pem] = glob.glob(f'keys/*-{hint}.pem')
    key = SSlibKey.from_crypto(load_pem_public_key(open(pem, 'rb').read()))
    envelope = bundle['dsseEnvelope']
    for signature in envelope['signatures']:
        signature['keyid'] = key.keyid
    Envelope.from_dict(envelope).verify([key], 1)
    print(os.path.dirname(path), 'is signed')
\`\`\`

The hint in a bundle only says which key to try. It proves nothing: steps 1 and 2 do.

**4. The rest follows from the statement.** It names by sha256 what each run was and did. Compare with \`openssl dgst -sha256 FILE\`:

| in the statement | in this export |
|---|---|
| \`spec.json\`, \`policy.json\`, \`log.ndjson.zst\` | the same name in the run's folder |
| \`code/0\` | \`code/0.py\`, or another ending |
| \`seccomp/NAME.json\`, \`preloads/NAME.py\`, \`image.packages.json\` | \`seccomp/DIGEST.json\`, \`preloads/DIGEST.py\`, \`images/DIGEST.json\` |
| \`inputs/NAME.jsonl\`, \`workspace.before.jsonl\`, \`workspace.after.jsonl\` and their maps of locations | \`snapshots/TENANT/DIGEST.jsonl\`, \`snapshots/TENANT/locations/DIGEST.jsonl\` |
| \`posture\` | \`posture.json\` is its form; the result has the words that stand in it |

${outputs ? 'The outputs are in `outputs/`; `outputs.manifest.json` has their digests.' : 'The bytes of the outputs are not in here: `outputs.manifest.json` has their digests.'} ${inputs ? 'The bytes of the inputs are in `cas/`, under their digests.' : 'The bytes of the inputs are not in here: the lists in `snapshots/` have their digests.'} \`zstd -dc log.ndjson.zst\` shows a log. \`result.json\` is what was signed; \`committed.json\` is the same as it is stored, with the members \`evidence\` and \`receipt\`.

## What this does not prove
${unproven.map(({ what, why }) => `- **${what}** ${why}`).join('\n')}
`;
}
