/** What no signature of ours shows: every export says so, in the words of docs/evidence.md. */
export const unproven: readonly { what: string; why: string }[] = [
  {
    what: 'That no run is missing.',
    why: 'An export has the runs that were asked for, as they stood. The history of the bucket is not in it. A submitter who holds a receipt can show that a run was accepted.',
  },
  {
    what: 'That the list of keys is the newest one.',
    why: 'A key may have been revoked since. Compare the number and the time of the list that verification prints with those that the operator publishes.',
  },
  {
    what: 'The time.',
    why: 'Times are those of the operator’s hosts. A key that was stolen can sign a time before its revocation.',
  },
  {
    what: 'That the isolation was what the posture says.',
    why: 'The posture is testimony of a static program in the cell and of the host’s kernel. An attacker who controls the kernel controls the posture.',
  },
  {
    what: 'That the operator is honest.',
    why: 'One who holds the root’s key and the workers’ keys can sign a run that never was.',
  },
  {
    what: 'What the code means.',
    why: 'The statement binds which bytes were executed, and not that they compute what they should.',
  },
];
