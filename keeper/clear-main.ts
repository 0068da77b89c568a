import { readKeeperSettings } from './keeper-config.ts';
import { openKeeper } from './open-keeper.ts';

/** Ends and removes every cell of this installation, once its keeper has ended. */
const keeper = openKeeper(readKeeperSettings(process.env));
const count = keeper.list().length;
const isClear = await keeper.removeAll();
if (isClear) keeper.parts.cgroups.removeParent(keeper.parts.parent);
process.stderr.write(`${JSON.stringify({ msg: isClear ? 'cleared' : 'some cells are left', count })}\n`);
process.exitCode = isClear ? 0 : 1;
