/** The API speaks of its calls. A person at a terminal wants the command that makes the call. */
const commands: readonly (readonly [call: RegExp, command: string])[] = [
  [/POST \/v1\/runs\/([0-9a-f-]{36})\/rerun\b/g, './hotcell rerun $1'],
  [/GET \/v1\/runs\/([0-9a-f-]{36})(?![\w/-])/g, './hotcell show $1'],
  [/GET \/v1\/runs\b(?!\/)/g, './hotcell ls'],
  [/DELETE \/v1\/snapshot-names\/([\w.-]{1,128})/g, './hotcell snapshot names rm $1'],
  [/GET \/v1\/snapshot-names has its history/g, './hotcell snapshot names --history lists them'],
  [/GET \/v1\/snapshot-names\b/g, './hotcell snapshot names'],
  [/GET \/v1\/snapshots\b(?!\/)/g, './hotcell snapshot ls'],
  [/POST \/v1\/workers\/([\w.-]{1,128})\/resume\b/g, './hotcell workers resume $1'],
  [/GET \/v1\/workers\b/g, './hotcell workers ls'],
  [/GET \/v1\/apikeys\b/g, './hotcell apikey ls'],
  [/GET \/v1\/policies\b(?!\/)/g, './hotcell policy ls'],
  [/PUT \/v1\/schedules\/([a-z0-9][a-z0-9._-]*)/g, './hotcell schedule update $1'],
  [/DELETE \/v1\/schedules\/([a-z0-9][a-z0-9._-]*)/g, './hotcell schedule rm $1'],
  [/GET \/v1\/schedules\/([a-z0-9][a-z0-9._-]*)/g, './hotcell schedule show $1'],
  [/GET \/v1\/schedules\b(?!\/)/g, './hotcell schedule ls'],
  [/POST \/v1\/batches\/([0-9a-f-]{36})\/rerun\b/g, './hotcell batch rerun $1 --failed'],
  [/GET \/v1\/batches\b(?!\/)/g, './hotcell batch ls'],
  [/POST \/v1\/snapshots\b/g, './hotcell snapshot create'],
  [/GET \/v1\/workflows\b(?!\/)/g, './hotcell workflow ls'],
  [/GET \/v1\/webhooks\b(?!\/)/g, './hotcell webhook ls'],
  [/POST \/v1\/tenants\b/g, './hotcell tenant create'],
  [/GET \/v1\/tenants\b/g, './hotcell tenant ls'],
  [
    /(inputs\.[\w-]{1,64}: )No snapshot is named ([\w.-]{1,128})\./g,
    '$1$2 is neither a file or folder nor the name of a snapshot.',
  ],
  [/Send "Authorization: Bearer <API key>" with a valid key\./g, 'Set HOTCELL_API_KEY to a valid key.'],
  // A person typed an argument or an option, and knows of no address or body.
  [/^the (?:address|query|body) is not valid: /, ''],
  [/Name its new data in "inputs"/g, 'Give its new data with --input NAME=SRC'],
];

export function inCommands(text: string): string {
  return commands.reduce((said, [call, command]) => said.replace(call, command), text);
}
