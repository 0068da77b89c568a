import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failure } from '@hotcell/setup/images/build.ts';
import { remarks, unusable } from '@hotcell/setup/images/derive.ts';

describe('an image of an operator', () => {
  test('is unusable if a file in it gains rights, and the message says how to remove them', () => {
    const [setuid, capabilities, ...more] = unusable({ setuid: ['/usr/bin/su'], capabilities: ['/usr/bin/ping'] });
    assert.match(setuid ?? '', /\/usr\/bin\/su.*chmod a-s/s);
    assert.match(capabilities ?? '', /\/usr\/bin\/ping.*setcap -r/s);
    assert.deepEqual(more, []);
    assert.deepEqual(unusable({ setuid: [], capabilities: [] }), []);
  });

  test('gets a warning for compilers and network clients that names a few of many', () => {
    const many = Array.from({ length: 9 }, (_, i) => `/usr/bin/gcc-${i}`);
    assert.deepEqual(remarks({ compilers: many, networkClients: ['/usr/bin/curl'] }), [
      'it has compilers: /usr/bin/gcc-0, /usr/bin/gcc-1, /usr/bin/gcc-2, /usr/bin/gcc-3, /usr/bin/gcc-4, …',
      'it has network clients: /usr/bin/curl',
    ]);
    assert.deepEqual(remarks({ compilers: [], networkClients: [] }), []);
  });
});

describe('the message of a build that failed', () => {
  test('ends with the failing command’s output and what to do', () => {
    const said = [
      '#1 [internal] load build definition',
      '#5 0.412 E: Unable to locate package nosuch',
      '#5 ERROR: process did not complete',
      '------',
      'ERROR: failed to solve: process "/bin/sh -c apt-get install nosuch" did not complete',
    ].join('\n');
    const message = failure('geo', 1, said);
    assert.match(message, /Could not build the image geo \(exit code 1\)/);
    assert.match(message, /\n {2}E: Unable to locate package nosuch\n {2}ERROR: failed to solve/);
    assert.match(message, /run the same command again/);
    assert.doesNotMatch(message, /internal/);
  });

  test('shows the builder’s output if no command ran', () => {
    assert.match(failure('geo', 1, 'ERROR: failed to read dockerfile: open Dockerfile: no such file'), /no such file/);
  });
});
