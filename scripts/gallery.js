// Pictures of the pages in every state, on scripted servers:
// npm run gallery [-- FOLDER [SCENE,SCENE...]]
import { runBundled } from './run-bundled.js';

await runBundled('test/support/gallery/main.ts');
