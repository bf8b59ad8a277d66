// Pictures of the pages in every state, on scripted servers:
// npm run gallery [-- FOLDER [SCENE,SCENE...]]
import { runBundled } from './run-bundled.js';
import { useTool } from './tool.js';

useTool('browser');
await runBundled('test/support/gallery/main.ts');
