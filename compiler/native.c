/* SPDX-License-Identifier: MIT
 *
 * The child opens the library, calls the function through libffi and writes a
 * reply of fixed size to a pipe.
 */
#include "compiler/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ffi.h>

#include "compiler/clock.h"
#include "lang/ast.h"
#include "lang/base/path.h"
#include "lang/unit.h"
#include "lang/value.h"

enum reply_kind { REPLY_RESULT, REPLY_NO_LIBRARY, REPLY_NO_FUNCTION,
		  REPLY_NO_CALL };

/* What the child tells: a number, or why there is none. */
struct reply {
	enum reply_kind kind;
	double number;
	int64_t integer;
	char reason[256];
};

struct call {
	struct compilation *compilation;
	const struct ast *declaration;
	const struct value *argument;
	struct span span;
	const char *path;		/* of the library */
	uint32_t count;			/* of arguments */
};

static bool is_integer_type(const struct ast *type)
{
	return strcmp(type->name, "int") == 0;
}

/* ---- in the child ---- */

static void call_function(const struct call *call, void (*function)(void),
			  struct reply *reply)
{
	const struct ast *parameters = call->declaration->child[1];
	ffi_type *type[NATIVE_PARAMETERS_MAX], *result;
	union { double number; int64_t integer; } slot[NATIVE_PARAMETERS_MAX];
	void *at[NATIVE_PARAMETERS_MAX];
	bool is_integer = is_integer_type(call->declaration->child[2]);
	ffi_cif interface;

	for (uint32_t i = 0; i < call->count; i++) {
		at[i] = &slot[i];
		if (is_integer_type(parameters->child[i]->child[0])) {
			type[i] = &ffi_type_sint64;
			slot[i].integer = (int64_t)call->argument[i].number;
		} else {
			type[i] = &ffi_type_double;
			slot[i].number = call->argument[i].number;
		}
	}
	result = is_integer ? &ffi_type_sint64 : &ffi_type_double;
	if (ffi_prep_cif(&interface, FFI_DEFAULT_ABI, call->count, result,
			 type) != FFI_OK) {
		reply->kind = REPLY_NO_CALL;
		return;
	}
	if (is_integer)
		ffi_call(&interface, function, &reply->integer, at);
	else
		ffi_call(&interface, function, &reply->number, at);
	reply->kind = REPLY_RESULT;
}

static void open_and_call(const struct call *call, struct reply *reply)
{
	void *library = dlopen(call->path, RTLD_NOW | RTLD_LOCAL);
	void (*function)(void) = NULL;
	void *symbol;

	if (!library) {
		reply->kind = REPLY_NO_LIBRARY;
		snprintf(reply->reason, sizeof(reply->reason), "%s", dlerror());
		return;
	}
	symbol = dlsym(library, call->declaration->name);
	if (!symbol) {
		reply->kind = REPLY_NO_FUNCTION;
		return;
	}
	/* ISO C has no cast from a pointer to data. */
	memcpy(&function, &symbol, sizeof(function));
	call_function(call, function, reply);
}

/* Whatever the library does, it does it to this process alone; what it prints
 * is no part of any output. */
static void run_child(const struct call *call, int pipe_end)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT,
				       SIGTRAP };
	struct rlimit no_core = { 0 };
	struct reply reply = { .kind = REPLY_NO_CALL };

	setrlimit(RLIMIT_CORE, &no_core);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_DFL);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	open_and_call(call, &reply);
	if (write(pipe_end, &reply, sizeof(reply)) != (ssize_t)sizeof(reply))
		_exit(1);
	_exit(0);
}

/* ---- in the parent ---- */

/* Whether a whole reply came in time. */
static bool read_reply(int pipe_end, struct reply *reply, bool *is_late)
{
	double deadline = clock_seconds() + NATIVE_SECONDS_MAX;
	size_t count = 0;

	*is_late = false;
	while (count < sizeof(*reply)) {
		struct pollfd wait = { .fd = pipe_end, .events = POLLIN };
		double left_s = deadline - clock_seconds();
		ssize_t length;
		int ready;

		*is_late = left_s <= 0;
		if (*is_late)
			return false;
		ready = poll(&wait, 1, (int)(left_s * 1e3) + 1);
		if (ready < 0 && errno != EINTR)
			return false;
		if (ready <= 0)
			continue;
		length = read(pipe_end, (char *)reply + count,
			      sizeof(*reply) - count);
		if (length < 0 && errno == EINTR)
			continue;
		if (length <= 0)
			return false;
		count += (size_t)length;
	}
	return true;
}

static int await(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static bool fail_without_reply(const struct call *call, int status,
			       bool is_late)
{
	struct diags *diags = &call->compilation->diags;
	const char *name = call->declaration->name;

	if (is_late)
		return diag_error(diags, E_EXTERN_CALL, call->span,
				  "'%s' of '%s' did not return within %d s",
				  name, call->path, NATIVE_SECONDS_MAX);
	if (WIFSIGNALED(status))
		return diag_error(diags, E_EXTERN_CALL, call->span,
				  "'%s' of '%s' crashed: signal %d (%s)", name,
				  call->path, WTERMSIG(status),
				  strsignal(WTERMSIG(status)));
	return diag_error(diags, E_EXTERN_CALL, call->span,
			  "'%s' of '%s' ended its process instead of returning",
			  name, call->path);
}

static bool take_result(const struct call *call, const struct reply *reply,
			struct value *value)
{
	const struct ast *type = call->declaration->child[2];
	struct diags *diags = &call->compilation->diags;
	struct unit unit = UNIT_NONE;
	double number = reply->number;

	if (is_integer_type(type)) {
		number = (double)reply->integer;
		if (!(fabs(number) <= VALUE_INTEGER_MAX))
			return diag_error(diags, E_EXTERN_CALL, call->span,
					  "'%s' gave %lld, and whole numbers go up to 2^53",
					  call->declaration->name,
					  (long long)reply->integer);
	} else if (!isfinite(number)) {
		return diag_error(diags, E_EXTERN_CALL, call->span,
				  "'%s' gave %s, which is no number",
				  call->declaration->name,
				  isnan(number) ? "nan" : "infinity");
	}
	unit_of_type(type->name, &unit);
	*value = value_of_number(number, unit, call->span);
	return true;
}

static bool take_reply(const struct call *call, const struct reply *reply,
		       struct value *value)
{
	struct diags *diags = &call->compilation->diags;
	struct span library = call->declaration->child[0]->span;

	switch (reply->kind) {
	case REPLY_RESULT:
		return take_result(call, reply, value);
	case REPLY_NO_LIBRARY:
		return diag_error(diags, E_EXTERN_LIBRARY, library,
				  "the library cannot be opened: %s",
				  reply->reason);
	case REPLY_NO_FUNCTION:
		return diag_error(diags, E_EXTERN_LIBRARY,
				  call->declaration->name_span,
				  "the library '%s' has no function '%s'",
				  call->path, call->declaration->name);
	case REPLY_NO_CALL:
		break;
	}
	return diag_error(diags, E_EXTERN_CALL, call->span,
			  "'%s' cannot be called on this machine",
			  call->declaration->name);
}

static bool run(const struct call *call, struct value *value)
{
	struct reply reply = { .kind = REPLY_NO_CALL };
	bool has_reply, is_late;
	int ends[2], status;
	pid_t child;

	if (pipe(ends) != 0)
		return take_reply(call, &reply, value);
	/* What is buffered must not be written twice. */
	fflush(NULL);
	child = fork();
	if (child == 0) {
		close(ends[0]);
		run_child(call, ends[1]);
	}
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return take_reply(call, &reply, value);
	}
	has_reply = read_reply(ends[0], &reply, &is_late);
	close(ends[0]);
	if (!has_reply)
		kill(child, SIGKILL);
	status = await(child);
	if (!has_reply)
		return fail_without_reply(call, status, is_late);
	reply.reason[sizeof(reply.reason) - 1] = '\0';
	return take_reply(call, &reply, value);
}

/* Beside the file that declares it, and never where the system keeps its own
 * libraries. */
static const char *library_path(struct compilation *compilation,
				const struct ast *declaration)
{
	const char *name = declaration->child[0]->text;
	const char *file =
		compilation->sources.at[declaration->span.file]->name;
	const char *path = path_join(&compilation->arena,
				     path_directory(&compilation->arena, file),
				     name);

	return strchr(path, '/') ? path :
				   arena_printf(&compilation->arena, "./%s", path);
}

static void note_library(struct compilation *compilation, const char *path)
{
	const struct native_library *known = compilation->libraries;
	struct native_library *library;

	while (known && strcmp(known->path, path) != 0)
		known = known->next;
	if (known)
		return;
	library = ARENA_NEW(&compilation->arena, struct native_library);
	library->path = path;
	library->next = compilation->libraries;
	compilation->libraries = library;
}

bool native_call(struct compilation *compilation, const struct ast *declaration,
		 const struct value *argument, struct span span,
		 struct value *value)
{
	struct call call = {
		.compilation = compilation,
		.declaration = declaration,
		.argument = argument,
		.span = span,
		.path = library_path(compilation, declaration),
		.count = declaration->child[1]->child_count,
	};

	if (call.count > NATIVE_PARAMETERS_MAX)
		return diag_error(&compilation->diags, E_EXTERN_SIGNATURE,
				  declaration->child[1]->span,
				  "an extern function has at most %d parameters",
				  NATIVE_PARAMETERS_MAX);
	if (access(call.path, F_OK) != 0)
		return diag_error(&compilation->diags, E_EXTERN_LIBRARY,
				  declaration->child[0]->span,
				  "there is no library '%s'", call.path);
	note_library(compilation, call.path);
	return run(&call, value);
}
