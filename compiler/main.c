/* SPDX-License-Identifier: MIT
 *
 * nestc: reads the command line and hands over to one command.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "compiler/cli.h"

static enum status run(const struct cli *cli)
{
	switch (cli->command) {
#define COMMAND(enumerator, name, operands, least, most, title) \
	case COMMAND_##enumerator:                              \
		return cmd_##name(cli);
#include "compiler/commands.def"
#undef COMMAND
	case COMMAND_COUNT:
		break;
	}
	return STATUS_FAULT;
}

int main(int argc, char **argv)
{
	struct cli cli;
	enum status status;

	if (cli_read(&cli, argc, argv, &status))
		status = run(&cli);
	cli_release(&cli);
	if ((fflush(stdout) != 0 || ferror(stdout)) && status == STATUS_DONE) {
		cli_complain("cannot write standard output: %s", strerror(errno));
		status = STATUS_FILE;
	}
	return (int)status;
}
