/**
 * What a worker leaves that dies before it signs, or whose signature names nothing of it: the log of an attempt that does
 * not count, evidence without its record, what belongs to steps that are in no result.
 */
const forms = [
  /^(?:record\/\d+(?:-[0-9a-f-]{36})?\/)?log\.ndjson\.zst$/,
  /^record\/\d+-[0-9a-f-]{36}\/attempt\.sigstore\.json$/,
  // Of a worker of an older version, which did not sign it.
  /^record\/\d+\/attempt\.json$/,
  /^record\/\d+-[0-9a-f-]{36}\/results\/\d+(?:\.json|\/\d+|\/log)$/,
  /^record\/session\.json$/,
];

/** By its place in the folder of its run in an export. It is named, and is no finding: an honest record may have it. */
export function isLeftover(place: string): boolean {
  return forms.some((form) => form.test(place));
}
