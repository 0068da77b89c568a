import { isDeepStrictEqual } from 'node:util';
import { canonical, type Digest, sha256 } from './digest.ts';
import type { Posture, PostureFacts, PostureForm, TakenPosture } from './posture.ts';

type Own = Readonly<Record<string, string>>;
type Fact = PostureFacts[string];

/** A posture in two parts: what other cells have too, and what a result has in its place. */
export interface FormedPosture {
  /** The canonical text of the form. */
  text: string;
  digest: Digest;
  named: Posture;
}

/**
 * Writes `{name}` for each of the cell's own words, so that cells of one kind have the same form. Nothing is lost: if the
 * posture could not be made again from both parts, all of it is the form.
 */
export function formPosture(posture: TakenPosture, own: Own): FormedPosture {
  const names = new Map(Object.entries(own).map(([name, word]) => [word, name]));
  const open = (text: string) =>
    text.replaceAll(/[0-9A-Za-z-]+/g, (word) => (names.has(word) ? `{${names.get(word)}}` : word));
  const form = eachFact(posture, open);
  return isDeepStrictEqual(fillForm(form, own), posture) ? formed(form, own) : formed(posture, {});
}

/** The posture as it was, from both of its parts. */
export function fillForm(form: TakenPosture, own: Own): TakenPosture {
  const words = new Map(Object.entries(own));
  return eachFact(form, (text) =>
    text.replaceAll(/\{([0-9A-Za-z._-]+)\}/g, (whole, name: string) => words.get(name) ?? whole),
  );
}

function formed(open: TakenPosture, own: Own): FormedPosture {
  const form: PostureForm = { version: 1, ...open };
  const text = canonical(form);
  const digest = sha256(text);
  return { text, digest, named: { digest, own: { ...own }, ...briefFacts(open), worth: open.worth } };
}

/** What evidence says of a cell beside the digest of its form: which init it had, and what made it. */
export function briefFacts({ inside, outside }: Pick<TakenPosture, 'inside' | 'outside'>) {
  const only = (facts: PostureFacts, name: string): PostureFacts =>
    facts[name] === undefined ? {} : { [name]: facts[name] };
  return { inside: only(inside, 'init'), outside: only(outside, 'maker') };
}

function eachFact({ inside, outside, worth }: TakenPosture, change: (text: string) => string): TakenPosture {
  const changed = (fact: Fact): Fact => {
    if (typeof fact === 'string') return change(fact);
    return Array.isArray(fact) ? fact.map(change) : fact;
  };
  const all = (facts: PostureFacts) =>
    Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, changed(fact)]));
  return { inside: all(inside), outside: all(outside), worth };
}
