// Imported before a program: writes what it used into the file that KEELSON_USED names.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeFileSync(process.env.KEELSON_USED, JSON.stringify({
    processor: (user + system) / 1e6, wall: process.uptime(),
    mebibytes: process.resourceUsage().maxRSS / 1024,
  }));
});
