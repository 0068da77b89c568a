import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { missingIn, missingReason, packageNamedIn } from '@hotcell/contract/missing-package.ts';
import fc from 'fast-check';

const lacks = (stderr: string, exitCode = 1) => {
  const missing = missingIn(stderr, exitCode);
  return missing && `${missing.what} ${missing.name} from ${missing.package}`;
};

describe('what is missing is read from the end of stderr', () => {
  const sayings: [said: string, found: string | undefined, exitCode?: number][] = [
    ["Traceback…\nModuleNotFoundError: No module named 'requests'\n", 'Python module requests from requests'],
    ["ModuleNotFoundError: No module named 'sklearn.ensemble'", 'Python module sklearn from scikit-learn'],
    ["ModuleNotFoundError: No module named 'cv2'", 'Python module cv2 from opencv-python-headless'],
    ["ModuleNotFoundError: No module named 'PIL'", 'Python module PIL from pillow'],
    ["ModuleNotFoundError: No module named 'yaml'; 'yaml' is not a package", 'Python module yaml from PyYAML'],
    ["ModuleNotFoundError: No module named 'bs4'", 'Python module bs4 from beautifulsoup4'],
    ['/usr/local/bin/python3: No module named pip', 'Python module pip from pip'],
    ["ModuleNotFoundError: No module named 'constructor'", 'Python module constructor from constructor'],
    ["Error: Cannot find module 'lodash/fp'\nRequire stack:\n- /work/a.js", 'Node package lodash from lodash'],
    [
      "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b' imported from /work/x.mjs",
      'Node package @a/b from @a/b',
    ],
    ["Error: Cannot find module './mine.js'", undefined],
    ["Error: Cannot find module '/work/mine.js'", undefined],
    ['Error in library(zoo) : there is no package called ‘zoo’\nExecution halted', 'R package zoo from zoo'],
    ['/work/block.sh: line 3: jq: command not found', 'program jq from jq', 127],
    ['sh: 1: jq: not found', 'program jq from jq', 127],
    ['/work/block.sh: line 3: jq: command not found', undefined, 1],
    ["first No module named 'a'\nthen No module named 'b'\nKeyError: 1", 'Python module b from b'],
    ['all is well', undefined],
  ];
  for (const [said, found, exitCode] of sayings) test(said, () => assert.equal(lacks(said, exitCode), found));

  test('and has the form of a name, whatever the job writes', () => {
    const words = fc.constantFrom(
      "No module named '",
      "Cannot find module '",
      ': command not found',
      'there is no package called ‘',
    );
    const anything = fc
      .array(fc.oneof(words, fc.string({ unit: 'binary', maxLength: 30 })))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(anything, (said) => {
        const missing = missingIn(said, 127);
        if (!missing) return;
        assert.match(missing.name, /^[\w@./+-]{1,200}$/);
        assert.deepEqual(packageNamedIn(`Your code failed. ${missingReason(missing)}`), {
          what: missing.what,
          package: missing.package,
        });
      }),
    );
  });
});

test('a reason without a missing package names none', () => {
  assert.equal(packageNamedIn('Your code failed (exit code 1). See the log above.'), undefined);
});
